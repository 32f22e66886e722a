import type { IncomingHttpHeaders } from 'node:http';
import { isNavigation } from '../delivery/failure-page.ts';
import type { Context } from '../http/context.ts';
import { isPrefetch } from '../http/request-guards.ts';

const isRead = (method: string) => method === 'GET' || method === 'HEAD';

/**
 * Whether a browser opens an address as a page in a window. Browsers omit `Sec-Fetch-*` over plain http (except on this
 * machine), and old ones always do; then only `Accept` tells. A prefetch is not a page, because nobody asked for it.
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

/** A proxy that asks the check may remove the `Upgrade` header. */
const asksForWebSocket = ({ upgrade = '', 'sec-fetch-mode': mode }: IncomingHttpHeaders) =>
  /\bwebsocket\b/i.test(upgrade) || mode === 'websocket';

/**
 * Whether a page of another origin may have caused a request. A page of a sibling host is on the same site, so
 * `SameSite` does not keep cookies from its requests. Links from anywhere may open a page, because the linking page
 * cannot read it.
 *
 * @param method the method of the request itself, not of a proxy's question
 * @param origin the origin of the resource
 */
export function isOfForeignPage({ req: { headers } }: Context, method: string, origin: string): boolean {
  const { origin: from, 'sec-fetch-site': site } = headers;
  // Browsers let any page open a WebSocket to another origin and read it, but they always send `Origin`.
  if (asksForWebSocket(headers) && from !== origin) return true;
  if (isRead(method) && isDocument(headers)) return false;
  // Old browsers send `Origin` with every method that can change something.
  if (site === undefined) return from === undefined ? !isRead(method) && method !== 'OPTIONS' : from !== origin;
  if (site !== 'same-origin' && site !== 'none') return true;
  // A page with a strict referrer policy sends its forms with `Origin: null`.
  const isHidden = from === 'null' && site === 'same-origin';
  return from !== undefined && from !== origin && !isHidden;
}
