import { type DoorHost, openEvenIfEnded } from '../browsers/browser-door.ts';
import { mayComeFromForeignPage, opensPage } from '../browsers/browser-request.ts';
import { openByCookie } from '../browsers/door-cookies.ts';
import { showLoggedOut, showLogoutQuestion } from '../browsers/door-pages.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Context, Handler } from '../http/context.ts';
import { redirect } from '../http/redirect.ts';
import { doorPaths } from '../paths.ts';
import { longestBrowserLifetime } from '../resources/resource.ts';
import { siteOf } from './enter-door.ts';
import { recordCaller } from './protected-resource.ts';

/** `GET /.login-relay/user` at the host of a resource: tells its pages who is logged in, as the resource learns it. */
export function describeUser(host: DoorHost): Handler {
  return async (ctx: Context) => {
    ctx.state.resource = host.resource.name;
    const entered = await openByCookie(ctx, host);
    if (entered === undefined) throw new RelayError('resource_token_missing');
    recordCaller(ctx, entered, 'cookie');
    const { sub, preferred_username, email, groups } = entered.opened;
    ctx.body = { sub, preferred_username, email, groups };
  };
}

/** `/.login-relay/logout` at the host of a resource: GET asks a person who is logged in, POST ends the login. */
export function logoutAtDoor(host: DoorHost): Handler {
  const { pages } = host;
  const site = siteOf(host);
  return async (ctx: Context) => {
    ctx.state.resource = host.resource.name;
    if (ctx.method === 'POST') return await endLogin(host, ctx);
    const entered = await openByCookie(ctx, host);
    if (entered === undefined && !hasUnknownCookie(host, ctx)) {
      showLoggedOut(ctx, pages, site);
      return;
    }
    if (entered !== undefined) recordCaller(ctx, entered, 'cookie');
    showLogoutQuestion(ctx, pages, site);
  };
}

/**
 * Whether a browser has a cookie that no place opens, for example because a reload removed its provider. Another reload
 * may bring the provider back, and then the cookie opens the resource again, so the person must be able to clear it.
 */
function hasUnknownCookie(host: DoorHost, ctx: Context): boolean {
  return host.cookies.get(ctx) !== undefined && openEvenIfEnded(host, ctx) === undefined;
}

/** Clears the cookie first, whatever fails later. Then it ends the login, and with it copies of the cookie. */
async function endLogin(host: DoorHost, ctx: Context): Promise<void> {
  const { cookies, logins, origin, endedLogins } = host;
  if (mayComeFromForeignPage(ctx, 'POST', origin)) throw new RelayError('foreign_page_refused');
  cookies.clear(ctx);
  logins.forget(ctx);
  // Responses of the application have no `Vary: Cookie` (`browserResponseHeaders`), so the cache of the browser would
  // show this person's pages to the next one.
  ctx.set('Clear-Site-Data', '"cache"');
  // Without this redirect to the page that confirms the logout, browsers would offer to repeat the POST after *Back*.
  if (opensPage(ctx)) redirect(ctx, origin + doorPaths.logout);
  else ctx.status = 204;
  // Opens the cookie without asking whether its login has ended. While the shared memory is away, that would fail, and
  // the person would stay logged in.
  const entered = openEvenIfEnded(host, ctx);
  if (entered === undefined) return;
  const { door, opened } = entered;
  ctx.state.registration = door.resource.registration;
  ctx.state.person = opened.sub;
  // A copy of the cookie may be older than a reload or a renewal, and its lifetime longer. So use the longest lifetime.
  await endedLogins.end(opened.login, longestBrowserLifetime * 1000);
}
