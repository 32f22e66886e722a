import type { DoorHost } from '../browsers/browser-door.ts';
import { opensPage } from '../browsers/browser-request.ts';
import { isPlainRelayPath, wayBackTo } from '../browsers/way-back.ts';
import { RelayError } from '../failures/relay-error.ts';
import { unixSocketWord } from '../http/client-address.ts';
import type { Context, Handler } from '../http/context.ts';
import { withoutRelayCookies } from '../http/cookies.ts';
import type { AskedRequest, FindAsked } from '../http/forwarded-request.ts';
import { buildIdentityHeaders } from '../resources/identity-headers.ts';
import { enterDoor, redirectThroughProxy } from './enter-door.ts';

/**
 * `GET /auth/check/<resource>` of a resource that opens to browsers: tells a reverse proxy whether a request may pass,
 * and whose it is. The `Cookie` header of the answer replaces the browser's, so that the cookie of the door does not
 * reach the application or its logs.
 */
export function checkBrowser(host: DoorHost, findAsked: FindAsked, warn: WarnOfCheckedPaths): Handler {
  return async (ctx: Context) => {
    ctx.state.resource = host.resource.name;
    const asked = findAsked(ctx);
    if (asked && isPlainRelayPath(asked.target)) warn(host.resource.name);
    const entered = await enterDoor(host, ctx, () => requireKnown(ctx, asked));
    if (entered === undefined) return;
    ctx.set(buildIdentityHeaders(entered.opened));
    // Set the header even if no cookie is left. Without it in the answer, proxies pass the browser's own header.
    ctx.set('Cookie', withoutRelayCookies(ctx.get('Cookie')));
    ctx.status = 204;
  };
}

/**
 * `/auth/answer/<resource>`: answers a refused request for a proxy that cannot pass on the check's own answer. If
 * another tab has logged in meanwhile, the browser returns to its page.
 */
export function answerBrowser(host: DoorHost, findAsked: FindAsked, warn: WarnOfCheckedPaths): Handler {
  return async (ctx: Context) => {
    const { cookies, origin, resource } = host;
    ctx.state.resource = resource.name;
    const asked = requireKnown(ctx, findAsked(ctx));
    if (isPlainRelayPath(asked.target)) warn(resource.name);
    const entered = await enterDoor(host, ctx, () => asked);
    if (entered === undefined) return;
    const canReturn = opensPage(ctx) && asked.method === 'GET';
    // A browser that has just been sent back would come here forever.
    if (!canReturn || cookies.markReturned(ctx)) throw new RelayError('check_ineffective');
    redirectThroughProxy(ctx, origin + wayBackTo(asked.target, origin));
  };
}

/** Warns that a proxy sends requests for the relay's own paths, at the host of a resource, through the check. */
export type WarnOfCheckedPaths = (resource: string) => void;

/**
 * The request that a proxy asks about.
 *
 * @throws {RelayError} `request_unknown` if the proxy does not describe the request, which may be a POST of a foreign page
 */
function requireKnown(ctx: Context, asked: AskedRequest | undefined): AskedRequest {
  if (asked !== undefined) return asked;
  // The log names the proxy, because trusted-proxies may lack its address.
  ctx.state.peer = ctx.req.socket.remoteAddress ?? unixSocketWord;
  throw new RelayError('request_unknown');
}
