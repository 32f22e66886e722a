import type { Middleware, Next } from 'koa';
import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import type { Context } from './context.ts';

/** Lets only these methods pass. OPTIONS lists them. Any other method is answered with 405. */
export function allowMethods(...names: string[]): Middleware {
  const headers = { Allow: [...names, 'OPTIONS'].join(', ') };
  return async (ctx, next) => {
    if (names.includes(ctx.method)) return next();
    if (ctx.method !== 'OPTIONS') throw new RelayError('method_not_allowed', { headers });
    ctx.set(headers);
    ctx.status = 204;
  };
}

/** Characters of a header by which a client chooses among answers. Browsers send less than 300. */
const longestPreference = 1024;

/** Whether a header is short enough to be parsed. Each entry of a list takes time, and nothing depends on a long one. */
export function hasShort(ctx: Context, name: 'Accept' | 'Accept-Encoding' | 'If-None-Match'): boolean {
  return ctx.get(name).length <= longestPreference;
}

/** Refuses prefetches: the person has not asked for a login yet. */
export function refusePrefetch(ctx: Context, next: Next): Promise<void> {
  const purposes = `${ctx.get('Sec-Purpose')} ${ctx.get('Purpose')}`;
  if (/\b(prefetch|prerender|preview)\b/i.test(purposes)) throw new RelayError('prefetch_refused');
  return next();
}

const framed: ReadonlySet<string> = new Set(['iframe', 'frame', 'embed', 'object', 'fencedframe']);

/**
 * Refuses a request from a frame: the person cannot see which site the page belongs to.
 *
 * @throws {RelayError} `callback_framed`
 */
export function expectNoFrame(ctx: Context): void {
  if (framed.has(ctx.get('Sec-Fetch-Dest'))) throw new RelayError('callback_framed');
}

/**
 * Refuses a request that asks the person something, unless a window shows the answer. Old browsers do not say what does.
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
 * Refuses a request with more headers than the server keeps, and an HTTP/1.1 request without exactly one Host header of
 * the right form.
 *
 * @see RFC 9112 §3.2
 */
export function checkHeaders({ req }: Context, next: Next): Promise<void> {
  const { headers, httpVersion, rawHeaders } = req;
  // Names and values alternate.
  if (rawHeaders.length > 2 * limits.headers) throw new RelayError('headers_too_large');
  const hosts = rawHeaders.filter((text, index) => index % 2 === 0 && /^host$/i.test(text));
  const isUsable = hosts.length === 1 && hostForm.test(headers.host ?? '');
  if (httpVersion === '1.1' && !isUsable) throw new RelayError('host_unusable');
  return next();
}

const schemeAndAuthority = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/**
 * Removes scheme and authority from an absolute-form target. A server must accept that form, but
 * nothing here depends on it, and Koa's URL parser throws if it is malformed.
 *
 * @see RFC 9112 §3.2
 */
export function rewriteToOriginForm(ctx: Context, next: Next): Promise<void> {
  const { url } = ctx;
  // Callers never send a fragment. The URL parser would cut off everything after the `#`.
  if (url.includes('#')) throw new RelayError('bad_request');
  if (url.startsWith('/') || url === '*') return next();
  const target = url.replace(schemeAndAuthority, '');
  if (target === url) throw new RelayError('bad_request');
  ctx.url = target.startsWith('/') ? target : `/${target}`;
  return next();
}

/**
 * Removes the path of the base URL, if a proxy has passed it on. An address that exists with it stays: a proxy may have
 * removed the path, and it may look like one of the relay's own, such as `/api`.
 *
 * @param basePath without a slash at its end
 * @param exists whether the relay has this address
 */
export function withoutBasePath(basePath: string, exists: (path: string) => boolean): Middleware {
  return (ctx, next) => {
    const { url } = ctx;
    const rest = url.startsWith(basePath) ? url.slice(basePath.length) : undefined;
    // Another path may only begin with the same letters.
    if (rest !== undefined && /^(?:$|[/?])/.test(rest) && !exists(ctx.path)) {
      ctx.url = rest.startsWith('/') ? rest : `/${rest}`;
    }
    return next();
  };
}
