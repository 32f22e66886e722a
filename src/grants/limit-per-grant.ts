import type { Clock } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { createExpiringMap } from '../memory/expiring-map.ts';
import { times } from '../times.ts';

const countTime = times.count * 1000;
const mostGrants = 16_384;

/**
 * Limits what is done with one grant, such as the refreshes of a login, to `most` times in ten minutes.
 *
 * @param detail the text for a client over the limit
 * @returns a function that counts one use of a grant, or throws
 */
export function limitPerGrant(most: number, detail: string, now: Clock) {
  const counts = createExpiringMap<{ readonly count: number; readonly end: number }>(mostGrants, now);
  /** @throws {RelayError} `rate_limited` */
  return (grant: string): void => {
    const { count, end } = counts.get(grant) ?? { count: 0, end: now() + countTime };
    const retryIn = end - now();
    if (count >= most) throw new RelayError('rate_limited', { retryIn, detail });
    counts.set(grant, { count: count + 1, end }, retryIn);
  };
}
