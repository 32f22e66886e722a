import { opensPage } from '../browsers/browser-request.ts';
import { wayBackTo } from '../browsers/way-back.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Context, Handler } from '../http/context.ts';
import { withoutRelayCookies } from '../http/cookies.ts';
import type { AskedRequest, FindAsked } from '../http/forwarded-request.ts';
import { identityHeaders } from '../resources/identity-headers.ts';
import { type DoorPlace, enterDoor, redirectThroughProxy } from './enter-door.ts';

/**
 * `GET /auth/check/<resource>` of a resource that opens to browsers: tells a reverse proxy whether a request may pass,
 * and whose it is. Its `Cookie` header replaces the browser's, so that the door's cookie does not reach the application
 * or its logs.
 */
export function checkBrowser(place: DoorPlace, findAsked: FindAsked): Handler {
  return async (ctx: Context) => {
    ctx.state.resource = place.door.resource.name;
    const opened = await enterDoor(place, ctx, () => requireAsked(ctx, findAsked));
    if (opened === undefined) return;
    ctx.set(identityHeaders(opened));
    // Set it even if it is empty, because proxies pass the browser's header if the answer has none.
    ctx.set('Cookie', withoutRelayCookies(ctx.get('Cookie')));
    ctx.status = 204;
  };
}

/**
 * `/auth/answer/<resource>`: answers a refused request for a proxy that cannot pass on the check's own answer. If
 * another tab has logged in meanwhile, the browser returns to its page.
 */
export function answerBrowser(place: DoorPlace, findAsked: FindAsked): Handler {
  return async (ctx: Context) => {
    const { door } = place;
    ctx.state.resource = door.resource.name;
    const asked = requireAsked(ctx, findAsked);
    const opened = await enterDoor(place, ctx, () => asked);
    if (opened === undefined) return;
    const canReturn = opensPage(ctx) && asked.method === 'GET';
    if (!canReturn || door.cookies.markReturned(ctx)) throw new RelayError('check_ineffective');
    redirectThroughProxy(ctx, door.origin + wayBackTo(asked.target, door.origin));
  };
}

/** The request that a proxy asks about. @throws {RelayError} `request_unknown`: it may be a POST of a foreign page */
function requireAsked(ctx: Context, findAsked: FindAsked): AskedRequest {
  const asked = findAsked(ctx);
  if (asked === undefined) throw new RelayError('request_unknown');
  return asked;
}
