import type { Clock } from '../clock.ts';
import { RelayError } from '../errors.ts';
import { createLasting } from '../recent.ts';

/** Calls for one login within the time: other scopes and short tokens need one each. */
const mostCalls = 60;
const callsTime = 600_000;
const tooManyCalls =
  'This login is refreshed too often. Nothing is lost: try again in ten minutes.';

/** Limits the refreshes of a login at the provider. A login is known by its newest refresh token. */
export function createCallLimit(most: number, now: Clock) {
  const calls = createLasting<{ readonly count: number; readonly end: number }>(most, now);
  return {
    /** @throws {RelayError} `rate_limited` */
    count(key: string): void {
      const { count, end } = calls.get(key) ?? { count: 0, end: now() + callsTime };
      const retryIn = end - now();
      if (count >= mostCalls)
        throw new RelayError('rate_limited', { retryIn, detail: tooManyCalls });
      calls.set(key, { count: count + 1, end }, retryIn);
    },
    /** The provider has replaced the refresh token. */
    move(key: string, next: string): void {
      const known = calls.get(key);
      calls.delete(key);
      if (known) calls.set(next, known, known.end - now());
    },
  };
}
