import type { Clock } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { createLasting } from '../memory/recent.ts';

const time = 600_000;
const mostLogins = 16_384;
const detail = 'This login is refreshed too often. Nothing is lost: try again in ten minutes.';

/** Counts the refreshes of each login, and lets `most` pass in ten minutes. */
export function createRefreshCount(most: number, now: Clock) {
  const counts = createLasting<{ readonly count: number; readonly end: number }>(mostLogins, now);
  /** @throws {RelayError} `rate_limited` */
  return (login: string): void => {
    const { count, end } = counts.get(login) ?? { count: 0, end: now() + time };
    const retryIn = end - now();
    if (count >= most) throw new RelayError('rate_limited', { retryIn, detail });
    counts.set(login, { count: count + 1, end }, retryIn);
  };
}
