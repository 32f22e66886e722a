import { randomUUID } from 'node:crypto';
import type { Handler } from './context.ts';

/** The security headers of every response. Pages replace some of them. */
export const securityHeaders: Readonly<Record<string, string>> = Object.freeze({
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
});

/**
 * Sets the request id and the headers of every response. While the relay stops, it asks callers to close their
 * connections, so that they reach its successor.
 */
export function responseHeaders(relay: { readonly stopping: boolean }): Handler {
  return async (ctx, next) => {
    ctx.state.requestId = randomUUID();
    ctx.set(securityHeaders);
    ctx.set('X-Request-Id', ctx.state.requestId);
    await next();
    if (relay.stopping) ctx.set('Connection', 'close');
  };
}
