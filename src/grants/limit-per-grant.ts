import type { Clock } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { createLasting } from '../memory/recent.ts';
import { times } from '../times.ts';

const countTime = times.count * 1000;
const mostGrants = 16_384;

/**
 * Counts what is done with each grant, such as the refreshes of a login, and lets `most` pass in ten minutes.
 *
 * @param detail what the client of a further one reads
 */
export function createCount(most: number, detail: string, now: Clock) {
  const counts = createLasting<{ readonly count: number; readonly end: number }>(mostGrants, now);
  /** @throws {RelayError} `rate_limited` */
  return (grant: string): void => {
    const { count, end } = counts.get(grant) ?? { count: 0, end: now() + countTime };
    const retryIn = end - now();
    if (count >= most) throw new RelayError('rate_limited', { retryIn, detail });
    counts.set(grant, { count: count + 1, end }, retryIn);
  };
}
