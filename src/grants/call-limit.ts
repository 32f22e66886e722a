import type { Clock } from '../clock.ts';
import { RelayError } from '../errors.ts';
import { createRecent } from '../recent.ts';

/** Calls for one login within the time: other scopes and short tokens need one each. */
const mostCalls = 60;
const callsTime = 600_000;

/** Limits the refreshes of a login at the provider. A login is known by its newest refresh token. */
export function createCallLimit(most: number, now: Clock) {
  const calls = createRecent<{ readonly count: number; readonly since: number }>(
    callsTime,
    most,
    now,
  );
  return {
    /** @throws {RelayError} `rate_limited` */
    count(key: string): void {
      const known = calls.get(key);
      const left = known ? known.since + callsTime - now() : 0;
      const { count, since } = known && left > 0 ? known : { count: 0, since: now() };
      if (count >= mostCalls) {
        const headers = { 'Retry-After': String(Math.ceil(left / 1000)) };
        throw new RelayError('rate_limited', { headers, detail: tooManyCalls });
      }
      calls.set(key, { count: count + 1, since });
    },
    /** The provider has replaced the refresh token. */
    move(key: string, next: string): void {
      const known = calls.get(key);
      calls.delete(key);
      if (known) calls.set(next, known);
    },
  };
}

const tooManyCalls =
  'This login is refreshed too often. Nothing is lost: try again in ten minutes.';
