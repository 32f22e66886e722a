import { randomUUID } from 'node:crypto';
import type { Next } from 'koa';
import type { Context } from './context.ts';

/** The headers that every response carries, whatever it answers. */
export const securityHeaders: Readonly<Record<string, string>> = Object.freeze({
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
});

/** Names the request and sets the headers of every response. */
export function responseHeaders(ctx: Context, next: Next): Promise<void> {
  ctx.state.requestId = randomUUID();
  ctx.set(securityHeaders);
  ctx.set('X-Request-Id', ctx.state.requestId);
  return next();
}
