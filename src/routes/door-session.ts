import { mayComeFromForeignPage, opensPage } from '../browsers/browser-request.ts';
import { openByCookie } from '../browsers/door-cookies.ts';
import { showLoggedOut, showLogoutQuestion } from '../browsers/door-pages.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Context, Handler } from '../http/context.ts';
import { redirect } from '../http/redirect.ts';
import { doorPaths } from '../paths.ts';
import { longestBrowserLifetime } from '../resources/resource.ts';
import { type DoorPlace, siteOf } from './enter-door.ts';
import { recordCaller } from './protected-resource.ts';

/** `GET /.login-relay/user` at the host of a resource: tells its pages who is logged in, as the resource learns it. */
export function describeUser({ door }: DoorPlace): Handler {
  return async (ctx: Context) => {
    ctx.state.resource = door.resource.name;
    const opened = await openByCookie(ctx, () => ctx, door);
    if (opened === undefined) throw new RelayError('resource_token_missing');
    recordCaller(ctx, opened, 'cookie');
    const { sub, preferred_username, email, groups } = opened;
    ctx.body = { sub, preferred_username, email, groups };
  };
}

/** `/.login-relay/logout` at the host of a resource: GET asks a person who is logged in, POST ends the login. */
export function logoutAtDoor(place: DoorPlace): Handler {
  const { served, door } = place;
  const site = siteOf(door);
  return async (ctx: Context) => {
    ctx.state.resource = door.resource.name;
    if (ctx.method === 'POST') return await endLogin(place, ctx);
    const opened = await openByCookie(ctx, () => ctx, door);
    if (opened === undefined) {
      showLoggedOut(ctx, served.pages, site);
      return;
    }
    recordCaller(ctx, opened, 'cookie');
    showLogoutQuestion(ctx, served.pages, site);
  };
}

/** Clears the cookie first, whatever fails later. Then it ends the login, and with it copies of the cookie. */
async function endLogin({ served, door }: DoorPlace, ctx: Context): Promise<void> {
  const { cookies, logins, origin, resource } = door;
  if (mayComeFromForeignPage(ctx, 'POST', origin)) throw new RelayError('foreign_page_refused');
  cookies.clear(ctx);
  logins.forget(ctx);
  ctx.set('Clear-Site-Data', '"cache"');
  // Without this redirect to the page that confirms the logout, browsers would offer to repeat the POST after *Back*.
  if (opensPage(ctx)) redirect(ctx, origin + doorPaths.logout);
  else ctx.status = 204;
  // Opens the cookie without asking whether its login has ended: while the shared memory is away, that fails, and the
  // person would stay logged in.
  const cookie = cookies.get(ctx);
  const opened = cookie === undefined ? undefined : door.grants.accessTokens.open(cookie, resource);
  if (opened === undefined) return;
  ctx.state.person = opened.sub;
  // As long as any copy can be valid: before a reload or a renewal, the lifetime may have been longer.
  await served.grants.endedLogins.end(opened.login, longestBrowserLifetime * 1000);
}
