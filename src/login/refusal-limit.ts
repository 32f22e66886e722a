import { isFailure, RelayError } from '../failures/relay-error.ts';
import { createCounters, type Home } from '../memory/home.ts';
import type { Counted } from '../memory/kinds.ts';

/** Exchanges that wait for others to end, and those of one address: it cannot take the places of all others. */
const mostWaiting = 1024;
const mostWaitingForOne = 256;
/** Milliseconds after which an exchange no longer waits for another one to end. */
export const longestWait = 10_000;

/** The failures that follow from an unknown or spent code, or an unknown token. */
const refusals = ['code_refused', 'token_refused', 'token_missing', 'token_invalid'] as const;

/**
 * Counts refused calls to the provider by client address, for ten minutes. A caller with made-up codes or
 * tokens must not use up the requests that the provider allows the relay.
 *
 * @param advice what a caller over the limit reads, before "in ten minutes"
 */
export function createRefusalLimit(
  home: Home,
  what: Counted,
  advice = 'The provider refused too many tokens from this address. Try again',
) {
  const counters = createCounters(home, what);
  /** The exchanges in flight of each counter, and what to call when one of them ends. */
  const exchangesOf = new Map<string, { inFlight: number; readonly waiting: (() => void)[] }>();
  let waitingInAll = 0;

  /** Waits until even the refusal of all exchanges in flight and of one more would not pass the limit, and adds one. */
  async function takePlace(counter: string, most: number) {
    const begun = performance.now();
    for (;;) {
      const { count: refused, wait } = await counters.add(counter, 0);
      if (refused >= most) throw tooManyRefusals(advice, wait);
      // There is no await between check and increment, so no other exchange takes the same place.
      const exchanges = exchangesOf.get(counter) ?? { inFlight: 0, waiting: [] };
      if (refused + exchanges.inFlight < most) {
        exchanges.inFlight += 1;
        exchangesOf.set(counter, exchanges);
        return exchanges;
      }
      const { waiting } = exchanges;
      const isFull = waitingInAll >= mostWaiting || waiting.length >= mostWaitingForOne;
      if (isFull || performance.now() - begun > longestWait) {
        throw new RelayError('rate_limited', { retryIn: 1000 });
      }
      waitingInAll += 1;
      await new Promise<void>((resolve) => waiting.push(resolve));
      waitingInAll -= 1;
    }
  }

  return {
    /**
     * Runs an exchange. If the exchanges in flight for its address may still reach the limit, waits for one of them to
     * end. A burst of made-up codes cannot pass the limit, and a burst of honest logins does not fail.
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
