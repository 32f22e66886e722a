import { opensPage } from '../browsers/browser-request.ts';
import { wayBackTo } from '../browsers/way-back.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Context, Handler } from '../http/context.ts';
import { withoutRelayCookies } from '../http/cookie-writer.ts';
import type { AskedRequest, FindAsked } from '../http/forwarded-request.ts';
import { identityHeaders } from '../resources/identity-headers.ts';
import { type DoorPlace, enterDoor, redirectThroughProxy } from './enter-door.ts';

/**
 * `GET /auth/check/<resource>` of a resource that opens to browsers: tells a reverse proxy whether a request may pass, and
 * who sends it. It names the cookies that the application may see: the cookie of the door stays out of its logs.
 */
export function checkBrowser(place: DoorPlace, findAsked: FindAsked): Handler {
  return async (ctx: Context) => {
    ctx.state.resource = place.door.resource.name;
    const opened = await enterDoor(place, ctx, () => requireAsked(ctx, findAsked));
    if (opened === undefined) return;
    ctx.set(identityHeaders(opened));
    // Also if it is empty: in place of a missing one, proxies pass what the browser sends.
    ctx.set('Cookie', withoutRelayCookies(ctx.get('Cookie')));
    ctx.status = 204;
  };
}

/**
 * `/auth/answer/<resource>`: answers a request that the check has not let pass, for a proxy that cannot pass on what the
 * check answers. By now, another tab may have logged in: then the browser is sent back to its page.
 */
export function answerBrowser(place: DoorPlace, findAsked: FindAsked): Handler {
  return async (ctx: Context) => {
    const { door } = place;
    ctx.state.resource = door.resource.name;
    const asked = requireAsked(ctx, findAsked);
    const opened = await enterDoor(place, ctx, () => asked);
    if (opened === undefined) return;
    // Twice within a few seconds: the proxy would send the browser here again, for ever.
    const isPage = opensPage(ctx) && asked.method === 'GET';
    if (!isPage || door.cookies.markAnswered(ctx)) throw new RelayError('check_ineffective');
    redirectThroughProxy(ctx, door.origin + wayBackTo(asked.target, door.origin));
  };
}

/** @throws {RelayError} `request_unknown`: what passed unseen could be a POST of a foreign page */
function requireAsked(ctx: Context, findAsked: FindAsked): AskedRequest {
  const asked = findAsked(ctx);
  if (asked === undefined) throw new RelayError('request_unknown');
  return asked;
}
