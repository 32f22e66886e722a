import type { Next } from 'koa';
import { RelayError } from '../errors.ts';
import type { Context } from './context.ts';

const schemeAndAuthority = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/**
 * Takes scheme and authority off a request target that has them: a server must accept them, but
 * nothing here depends on them, and the URL parser of Koa throws where they are malformed.
 *
 * @see RFC 9112 §3.2
 */
export function originForm(ctx: Context, next: Next): Promise<void> {
  const { url } = ctx;
  // A fragment is never sent: what stands behind it would be cut off.
  if (url.includes('#')) throw new RelayError('bad_request');
  if (url.startsWith('/') || url === '*') return next();
  const target = url.replace(schemeAndAuthority, '');
  if (target === url) throw new RelayError('bad_request');
  ctx.url = target.startsWith('/') ? target : `/${target}`;
  return next();
}
