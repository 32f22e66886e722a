import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js';
import { RelayError } from '../errors.ts';
import { createRateLimitCounters } from './rate-limit-counters.ts';

/**
 * Answers 429 to a client that sends more than `perMinute` requests in a minute.
 *
 * @param clientAddress tells clients apart
 */
export function rateLimit(
  perMinute: number,
  clientAddress: (request: IncomingMessage) => string,
): Middleware {
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  const counterOf = createRateLimitCounters();
  return async (ctx, next) => {
    const key = counterOf(clientAddress(ctx.req));
    // Unlike `consume`, `penalty` does not throw if the limit is exceeded.
    const { consumedPoints, msBeforeNext } = await limiter.penalty(key);
    if (consumedPoints > perMinute) {
      const seconds = Math.ceil(msBeforeNext / 1000);
      throw new RelayError('rate_limited', { headers: { 'Retry-After': String(seconds) } });
    }
    await next();
  };
}
