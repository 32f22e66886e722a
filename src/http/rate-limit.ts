import type { Middleware } from 'koa';
import { RelayError } from '../failures/relay-error.ts';
import { createCounters, type Home } from '../memory/home.ts';
import { type Counted, counted } from '../memory/kinds.ts';
import { callersBehind } from './subscriber.ts';

/** Counts requests of each subscriber, and refuses those above a limit. */
export function createRequestCount(home: Home, what: Counted) {
  const counters = createCounters(home, what);
  /** @param detail the text for the sender of a refused request @throws {RelayError} `rate_limited` */
  return async (subscriber: string, most: number, detail?: string): Promise<void> => {
    const { count, wait } = await counters.add(counters.hashToCounter(subscriber), 1);
    if (count <= most) return;
    throw new RelayError('rate_limited', { retryIn: wait, detail });
  };
}

/** Answers 429 to a subscriber with more than `perMinute` requests in a minute. */
export function rateLimit(perMinute: number, trustedProxies: readonly string[], home: Home): Middleware {
  const { subscriberOf } = callersBehind(trustedProxies);
  const count = createRequestCount(home, counted.requests);
  return async (ctx, next) => {
    await count(subscriberOf(ctx.req), perMinute);
    await next();
  };
}
