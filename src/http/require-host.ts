import type { Next } from 'koa';
import { RelayError } from '../errors.ts';
import type { Context } from './context.ts';

/** Refuses an HTTP/1.1 request without a Host header. @see RFC 9112 §3.2 */
export function requireHost(ctx: Context, next: Next): Promise<void> {
  if (ctx.req.httpVersion === '1.1' && !ctx.req.headers.host) throw new RelayError('host_missing');
  return next();
}
