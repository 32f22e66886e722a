import { hash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js';
import { RelayError } from '../errors.ts';

/**
 * Counts a request of a client.
 *
 * @param most requests within the time
 * @param detail what a client reads that sends more
 * @throws {RelayError} `rate_limited`
 */
export type CountRequest = (address: string, most: number, detail?: string) => Promise<void>;

/** Counts in memory, with 65,536 counters, which start anew every so many seconds. */
export function createRequestCount(seconds: number): CountRequest {
  const limiter = new RateLimiterMemory({ points: 1, duration: seconds });
  const counterOf = createRateLimitCounters();
  return async (address, most, detail) => {
    // Unlike `consume`, `penalty` does not throw if the limit is exceeded.
    const { consumedPoints, msBeforeNext } = await limiter.penalty(counterOf(address));
    if (consumedPoints <= most) return;
    const headers = { 'Retry-After': String(Math.ceil(msBeforeNext / 1000)) };
    throw new RelayError('rate_limited', { headers, ...(detail !== undefined && { detail }) });
  };
}

/**
 * Answers 429 to a client that sends more than `perMinute` requests in a minute.
 *
 * @param clientAddress tells clients apart
 */
export function rateLimit(
  perMinute: number,
  clientAddress: (request: IncomingMessage) => string,
): Middleware {
  const count = createRequestCount(60);
  return async (ctx, next) => {
    await count(clientAddress(ctx.req), perMinute);
    await next();
  };
}

/**
 * Maps every address to one of 65,536 counters by a keyed hash. Memory stays bounded, no counter is
 * evicted, and clients cannot choose with whom they share one.
 *
 * @returns the number of an address's counter
 */
export function createRateLimitCounters(): (address: string) => number {
  const seed = randomBytes(16).toString('hex');
  return (address) => hash('sha256', seed + address, 'buffer').readUInt16LE();
}
