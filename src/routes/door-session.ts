import { isOfForeignPage, opensPage } from '../browsers/browser-request.ts';
import { showLoggedOut, showLogoutQuestion } from '../browsers/door-pages.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Context, Handler } from '../http/context.ts';
import { type DoorPlace, openByCookie, siteOf } from './enter-door.ts';
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

/**
 * `/.login-relay/logout` at the host of a resource: GET asks, POST ends the login. The cookie goes first, whatever else
 * happens; then copies of it end, also those from before a renewal.
 */
export function logoutAtDoor({ served, door }: DoorPlace): Handler {
  const site = siteOf(door);
  return async (ctx: Context) => {
    const { cookies, logins, origin, resource, terms } = door;
    ctx.state.resource = resource.name;
    if (ctx.method !== 'POST') {
      showLogoutQuestion(ctx, served.pages, site);
      return;
    }
    if (isOfForeignPage(ctx, 'POST', origin)) throw new RelayError('foreign_page_refused');
    cookies.clear(ctx);
    logins.forget(ctx);
    ctx.set('Clear-Site-Data', '"cache"');
    if (opensPage(ctx)) showLoggedOut(ctx, served.pages, site);
    else ctx.status = 204;
    // Without asking whether it has ended: a shared memory that is away must not keep a person logged in.
    const cookie = cookies.get(ctx);
    const opened = cookie === undefined ? undefined : door.grants.accessTokens.open(cookie, resource);
    if (opened === undefined) return;
    ctx.state.person = opened.sub;
    const left = Math.max(opened.exp * 1000 - served.now(), terms.lifetime * 1000);
    await served.grants.endedLogins.end(opened.login, left);
  };
}
