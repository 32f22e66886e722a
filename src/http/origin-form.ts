import type { Next } from 'koa';
import { RelayError } from '../errors.ts';
import type { Context } from './context.ts';

const schemeAndAuthority = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/**
 * Removes scheme and authority from an absolute-form target. A server must accept that form, but
 * nothing here depends on it, and Koa's URL parser throws if it is malformed.
 *
 * @see RFC 9112 §3.2
 */
export function originForm(ctx: Context, next: Next): Promise<void> {
  const { url } = ctx;
  // Clients never send a fragment. The URL parser would cut off everything after the `#`.
  if (url.includes('#')) throw new RelayError('bad_request');
  if (url.startsWith('/') || url === '*') return next();
  const target = url.replace(schemeAndAuthority, '');
  if (target === url) throw new RelayError('bad_request');
  ctx.url = target.startsWith('/') ? target : `/${target}`;
  return next();
}
