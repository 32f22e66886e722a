import { hash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js';
import { RelayError } from '../errors.ts';

/**
 * Refuses requests beyond so many a minute from one client, with 429.
 *
 * Clients share 65,536 counters, by a hash that nobody outside can compute: however many addresses
 * there are, memory stays bounded, no counter is ever given up for another, and nobody can pick
 * whose counter to share.
 *
 * @param clientAddress tells clients apart
 */
export function rateLimit(
  perMinute: number,
  clientAddress: (request: IncomingMessage) => string,
): Middleware {
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  const seed = randomBytes(16).toString('hex');
  return async (ctx, next) => {
    const counter = hash('sha256', seed + clientAddress(ctx.req), 'buffer').readUInt16LE();
    // Unlike `consume`, it rejects nothing: a refusal is no error of the limiter.
    const { consumedPoints, msBeforeNext } = await limiter.penalty(counter);
    if (consumedPoints > perMinute) {
      const seconds = Math.ceil(msBeforeNext / 1000);
      throw new RelayError('rate_limited', { headers: { 'Retry-After': String(seconds) } });
    }
    await next();
  };
}
