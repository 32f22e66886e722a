import type { Middleware } from 'koa';
import { RelayError } from '../failures/relay-error.ts';
import { createCounters } from '../memory/counters.ts';
import type { Home } from '../memory/home.ts';
import { type Counted, counted } from '../memory/kinds.ts';
import { createClientAddresses } from './client-address.ts';

/**
 * Creates a function that counts a request of a network, and throws `rate_limited` if it is one too many.
 *
 * @param kind the kind of requests, which is counted separately from other kinds
 */
export function createRequestLimit(home: Home, kind: Counted) {
  const counters = createCounters(home, kind);
  /** @param detail the text for the sender of a refused request @throws {RelayError} `rate_limited` */
  return async (network: string, most: number, detail?: string): Promise<void> => {
    const { count, wait } = await counters.add(counters.hashToCounter(network), 1);
    if (count <= most) return;
    throw new RelayError('rate_limited', { retryIn: wait, detail });
  };
}

/**
 * Creates middleware that answers 429 to callers from a network with more than `perMinute` requests in a minute.
 * `createHandler` puts it before the endpoints that have `isLimited`.
 */
export function rateLimit(perMinute: number, trustedProxies: readonly string[], home: Home): Middleware {
  const { clientNetwork } = createClientAddresses(trustedProxies);
  const countRequest = createRequestLimit(home, counted.requests);
  return async (ctx, next) => {
    await countRequest(clientNetwork(ctx.req), perMinute);
    await next();
  };
}
