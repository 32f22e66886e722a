import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import type { RequestState } from './context.ts';
import type { Readiness } from './readiness.ts';

/** The headers of every response. */
export const securityHeaders: Readonly<Record<string, string>> = Object.freeze({
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
});

/**
 * Sets the request id and the headers of every response. While the relay stops, `Connection: close`
 * makes clients reconnect to its successor.
 */
export function responseHeaders(readiness: Readiness): Middleware<RequestState> {
  return async (ctx, next) => {
    ctx.state.requestId = randomUUID();
    ctx.set(securityHeaders);
    ctx.set('X-Request-Id', ctx.state.requestId);
    await next();
    if (readiness.stopping) ctx.set('Connection', 'close');
  };
}
