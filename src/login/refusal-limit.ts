import { isFailure, RelayError } from '../failures/relay-error.ts';
import { createCounters } from '../memory/counters.ts';
import type { Home } from '../memory/home.ts';
import type { Counted } from '../memory/kinds.ts';

/** Exchanges that may wait for other exchanges to end. */
const mostWaiting = 1024;
/** The same for one address, so that one address cannot take all places. */
const mostWaitingOfAddress = 256;
/** Milliseconds that an exchange waits at most. */
export const longestWait = 10_000;

/** The failures with a made-up or spent code, or an unknown token. */
const refusals = ['code_refused', 'token_refused', 'token_missing', 'token_invalid'] as const;

/**
 * Limits the refused calls of each client address to the provider, for ten minutes. Otherwise, a caller with made-up
 * codes or tokens would use up the token requests that the provider allows the relay.
 *
 * @param advice the text for a caller over the limit, before "in ten minutes"
 */
export function createRefusalLimit(
  home: Home,
  what: Counted,
  advice = 'The provider refused too many tokens from this address. Try again',
) {
  const counters = createCounters(home, what);
  /** The exchanges in flight of each counter, with the callers that wait until an exchange ends. */
  const exchangesOf = new Map<string, { inFlight: number; readonly waiting: (() => void)[] }>();
  let allWaiting = 0;

  /**
   * Waits until one more exchange could not exceed the limit, even if all exchanges in flight were refused. Then it
   * takes a place.
   *
   * @throws {RelayError} `too_many_refusals` or `rate_limited`
   */
  async function takePlace(counter: string, most: number) {
    const begun = performance.now();
    for (;;) {
      const { count: refused, wait } = await counters.add(counter, 0);
      if (refused >= most) throw tooManyRefusals(advice, wait);
      // No await separates check and increment, so no other exchange can take the same place.
      const exchanges = exchangesOf.get(counter) ?? { inFlight: 0, waiting: [] };
      if (refused + exchanges.inFlight < most) {
        exchanges.inFlight += 1;
        exchangesOf.set(counter, exchanges);
        return exchanges;
      }
      const { waiting } = exchanges;
      const isFull = allWaiting >= mostWaiting || waiting.length >= mostWaitingOfAddress;
      if (isFull || performance.now() - begun > longestWait) {
        throw new RelayError('rate_limited', { retryIn: 1000 });
      }
      allWaiting += 1;
      await new Promise<void>((resolve) => waiting.push(resolve));
      allWaiting -= 1;
    }
  }

  return {
    /**
     * Runs an exchange. If the exchanges in flight for its address might still reach the limit, it waits for one of
     * them to end. So a burst of made-up codes cannot exceed the limit, and a burst of honest logins does not fail.
     *
     * @throws {RelayError} `too_many_refusals` or `rate_limited`, or why the exchange failed
     */
    async limit<Result>(address: string, most: number, exchange: () => Promise<Result>): Promise<Result> {
      const counter = counters.hashToCounter(address);
      const exchanges = await takePlace(counter, most);
      try {
        return await exchange();
      } catch (error) {
        if (isFailure(error, ...refusals)) await counters.add(counter, 1);
        throw error;
      } finally {
        exchanges.inFlight -= 1;
        if (exchanges.inFlight === 0) exchangesOf.delete(counter);
        for (const resolve of exchanges.waiting.splice(0)) resolve();
      }
    },
  };
}

function tooManyRefusals(advice: string, wait: number): RelayError {
  const minutes = Math.ceil(wait / 60_000);
  const when = minutes === 1 ? 'a minute' : `${minutes} minutes`;
  return new RelayError('too_many_refusals', { detail: `${advice} in ${when}.`, retryIn: wait });
}
