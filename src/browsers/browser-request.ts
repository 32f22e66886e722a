import type { IncomingHttpHeaders } from 'node:http';
import { isNavigation, prefersHtml } from '../delivery/failure-page.ts';
import type { Context } from '../http/context.ts';
import { isPrefetch } from '../http/request-guards.ts';

const isReadMethod = (method: string) => method === 'GET' || method === 'HEAD';

/**
 * Whether a browser opens an address as a page in a window. Without `Sec-Fetch-*`, which old browsers never send and
 * others omit over plain http (except on this machine), `Accept` decides. A prefetch is not a page, because nobody
 * asked for it.
 *
 * @see https://www.w3.org/TR/fetch-metadata/
 */
export function opensPage(ctx: Context): boolean {
  if (isPrefetch(ctx)) return false;
  if (!sendsFetchMetadata(ctx)) return isNavigation(ctx);
  return isDocumentNavigation(ctx) || isPassedOnByWorker(ctx);
}

/** Whether a page of the application itself led to a request, for example by a link or a form. */
export const isFromOwnPage = (ctx: Context): boolean => ctx.get('Sec-Fetch-Site') === 'same-origin';

/** Whether a page of the application itself opens an address in a frame. */
export const opensOwnFrame = (ctx: Context): boolean =>
  isFromOwnPage(ctx) && ['iframe', 'frame'].includes(ctx.get('Sec-Fetch-Dest')) && prefersHtml(ctx);

const sendsFetchMetadata = ({ req: { headers } }: Context) =>
  headers['sec-fetch-mode'] !== undefined || headers['sec-fetch-dest'] !== undefined;

const isDocumentNavigation = ({ req: { headers } }: Context) =>
  headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';

/**
 * Whether a service worker of the application passes on the request for a page. Chromium and WebKit then send the mode
 * `navigate`, Firefox `same-origin`. Scripts can send neither of them to another origin. `Accept` tells such a request
 * from a download link, which has the same destination in Chromium, and from most requests of scripts.
 */
function isPassedOnByWorker(ctx: Context): boolean {
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = ctx.req.headers;
  return destination === 'empty' && (mode === 'navigate' || mode === 'same-origin') && prefersHtml(ctx);
}

/** Also reads `Sec-Fetch-Mode`, because a proxy that asks the check may remove the `Upgrade` header. */
const asksForWebSocket = ({ upgrade = '', 'sec-fetch-mode': mode }: IncomingHttpHeaders) =>
  /\bwebsocket\b/i.test(upgrade) || mode === 'websocket';

/**
 * Whether a page of another origin may have caused a request (CSRF). `SameSite` does not prevent this, because the
 * requests of a sibling host's page are on the same site and carry the cookies. Links from anywhere may open a page,
 * because the linking page cannot read it.
 *
 * @param method the method of the request itself, not of a proxy's question
 * @param origin the origin of the resource
 */
export function mayComeFromForeignPage(ctx: Context, method: string, origin: string): boolean {
  const { headers } = ctx.req;
  const { origin: from, 'sec-fetch-site': site } = headers;
  // Browsers let any page open a WebSocket to another origin and read it, but they always send `Origin`.
  if (asksForWebSocket(headers) && from !== origin) return true;
  if (isReadMethod(method) && (isDocumentNavigation(ctx) || isPassedOnByWorker(ctx))) return false;
  if (site === undefined) {
    if (from !== undefined) return from !== origin;
    // Old browsers send `Origin` with every method that can change something.
    return !isReadMethod(method) && method !== 'OPTIONS';
  }
  if (site !== 'same-origin' && site !== 'none') return true;
  // A page with a strict referrer policy sends its forms with `Origin: null`.
  if (from === 'null' && site === 'same-origin') return false;
  return from !== undefined && from !== origin;
}
