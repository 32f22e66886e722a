import type { Middleware, Next } from 'koa';
import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import type { Context } from './context.ts';

/** Answers 405 to all methods but these, and lists them for OPTIONS. */
export function allowMethods(...methods: string[]): Middleware {
  const headers = { Allow: [...methods, 'OPTIONS'].join(', ') };
  return async (ctx, next) => {
    if (methods.includes(ctx.method)) return next();
    if (ctx.method !== 'OPTIONS') throw new RelayError('method_not_allowed', { headers });
    ctx.set(headers);
    ctx.status = 204;
  };
}

/** Characters. Browsers send less than 300. */
const longestParsedHeader = 1024;

/**
 * Whether a header is short enough to be parsed. A list of 60 KB would cost many times the CPU time of an ordinary
 * request.
 */
export function isShortHeader(ctx: Context, name: 'Accept' | 'Accept-Encoding' | 'If-None-Match'): boolean {
  return ctx.get(name).length <= longestParsedHeader;
}

/** Whether a browser fetches an address before anybody asks for it. */
export function isPrefetch(ctx: Context): boolean {
  return /\b(prefetch|prerender|preview)\b/i.test(`${ctx.get('Sec-Purpose')} ${ctx.get('Purpose')}`);
}

/** Refuses prefetches, because the person has not asked for a login yet. @throws {RelayError} `prefetch_refused` */
export function refusePrefetch(ctx: Context, next: Next): Promise<void> {
  if (isPrefetch(ctx)) throw new RelayError('prefetch_refused');
  return next();
}

const frameDestinations: ReadonlySet<string> = new Set(['iframe', 'frame', 'embed', 'object', 'fencedframe']);

/**
 * Refuses a request from a frame, against clickjacking: the person cannot see which site the page belongs to.
 *
 * @throws {RelayError} `callback_framed`
 */
export function expectNoFrame(ctx: Context): void {
  if (frameDestinations.has(ctx.get('Sec-Fetch-Dest'))) throw new RelayError('callback_framed');
}

/**
 * Refuses a request that shows the person a question, unless it is a navigation of a window. Browsers that do not send
 * `Sec-Fetch-Dest` pass.
 *
 * @throws {RelayError} `callback_framed` or `navigation_required`
 */
export function expectNavigation(ctx: Context): void {
  expectNoFrame(ctx);
  const mode = ctx.get('Sec-Fetch-Mode');
  if (mode !== '' && mode !== 'navigate') throw new RelayError('navigation_required');
}

/** A host with an optional port. @see RFC 3986 §3.2.2 */
const hostForm = /^([\w.~!$&'()*+,;=%-]+|\[[\w.~!$&'()*+,;=:-]+\])(:\d*)?$/;

/**
 * Refuses a request with too many headers, and an HTTP/1.1 request without exactly one valid `Host`.
 *
 * The parser of Node.js also takes other versions, and chunks in HTTP/1.0. A proxy in front that does not know them
 * would see the end of such a request elsewhere, so that a client could smuggle another one behind it.
 *
 * @throws {RelayError} `bad_request`, `headers_too_large` or `host_unusable`
 * @see RFC 9112 §3.2 and §6.1
 */
export function checkHeaders({ req }: Context, next: Next): Promise<void> {
  const { headers, headersDistinct, httpVersion, rawHeaders } = req;
  const isChunked = headers['transfer-encoding'] !== undefined;
  if (httpVersion !== '1.1' && (httpVersion !== '1.0' || isChunked)) {
    throw new RelayError('bad_request', { headers: { Connection: 'close' } });
  }
  // Names and values alternate.
  if (rawHeaders.length > 2 * limits.headers) throw new RelayError('headers_too_large');
  const [host = '', secondHost] = headersDistinct['host'] ?? [];
  const isUsable = secondHost === undefined && hostForm.test(host);
  if (httpVersion === '1.1' && !isUsable) throw new RelayError('host_unusable');
  return next();
}

const schemeAndAuthority = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/**
 * Removes scheme and authority from an absolute-form target. Servers must accept that form, but Koa's URL parser throws
 * if it is malformed.
 *
 * @throws {RelayError} `bad_request` for any other form, and for a target with a fragment
 * @see RFC 9112 §3.2
 */
export function rewriteToOriginForm(ctx: Context, next: Next): Promise<void> {
  const { url } = ctx;
  // No honest client sends a fragment. The URL parser would cut off everything after the `#`, such as a part of the
  // code.
  if (url.includes('#')) throw new RelayError('bad_request');
  if (url.startsWith('/') || url === '*') return next();
  const target = url.replace(schemeAndAuthority, '');
  if (target === url) throw new RelayError('bad_request');
  ctx.url = target.startsWith('/') ? target : `/${target}`;
  return next();
}

/**
 * Removes the path of the base URL from a request's address, if the proxy did not. The path stays if the address exists
 * with it, because a base path such as `/api` may be the beginning of an address of the relay.
 *
 * @param basePath without a slash at its end
 * @param exists whether the relay has an address
 */
export function removeBasePath(basePath: string, exists: (path: string) => boolean): Middleware {
  return (ctx, next) => {
    const { url } = ctx;
    const rest = url.slice(basePath.length);
    // `/loginx` is not below the base path `/login`.
    const isBelow = url.startsWith(basePath) && /^(?:$|[/?])/.test(rest);
    if (isBelow && !exists(ctx.path)) ctx.url = rest.startsWith('/') ? rest : `/${rest}`;
    return next();
  };
}
