import type { IncomingHttpHeaders } from 'node:http';
import { isNavigation } from '../delivery/failure-page.ts';
import type { Context } from '../http/context.ts';
import { isPrefetch } from '../http/request-guards.ts';

const isRead = (method: string) => method === 'GET' || method === 'HEAD';

/**
 * Whether a browser opens an address as a page of a window. Browsers send no `Sec-Fetch-*` over plain http beyond this
 * machine, and old ones never do; there, `Accept` has to do. A prefetch is no page: nobody has asked for it.
 *
 * @see https://www.w3.org/TR/fetch-metadata/
 */
export function opensPage(ctx: Context): boolean {
  if (isPrefetch(ctx)) return false;
  return saysDestination(ctx) ? isDocument(ctx.req.headers) : isNavigation(ctx);
}

const saysDestination = ({ req: { headers } }: Context) =>
  headers['sec-fetch-mode'] !== undefined || headers['sec-fetch-dest'] !== undefined;

const isDocument = (headers: IncomingHttpHeaders) =>
  headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';

/** A proxy that asks for a check may keep the upgrade to itself. */
const asksForWebSocket = ({ upgrade = '', 'sec-fetch-mode': mode }: IncomingHttpHeaders) =>
  /\bwebsocket\b/i.test(upgrade) || mode === 'websocket';

/**
 * Whether a page of another origin may have made a browser send a request. The browser adds its cookies all the same if the
 * page is of a sibling host. A link from any page may open a page here: nothing can read it there.
 *
 * @param method that of the request, whatever a proxy asks with
 * @param origin that of the resource
 */
export function isOfForeignPage({ req: { headers } }: Context, method: string, origin: string): boolean {
  const { origin: from, 'sec-fetch-site': site } = headers;
  // No page is kept from opening a WebSocket to another origin and reading it. But every browser names its origin.
  if (asksForWebSocket(headers) && from !== origin) return true;
  if (isRead(method) && isDocument(headers)) return false;
  // Old browsers: they name the origin with every method that may change something.
  if (site === undefined) return from === undefined ? !isRead(method) && method !== 'OPTIONS' : from !== origin;
  if (site !== 'same-origin' && site !== 'none') return true;
  // A page that hides its address from others sends its forms with the origin null.
  const isHidden = from === 'null' && site === 'same-origin';
  return from !== undefined && from !== origin && !isHidden;
}
