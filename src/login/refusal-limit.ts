import { isFailure, RelayError } from '../failures/relay-error.ts';
import { createCounters } from '../memory/counters.ts';
import type { Home } from '../memory/home.ts';
import type { Counted } from '../memory/kinds.ts';

/** Calls that may wait for other calls to end. */
const mostWaiting = 1024;
/** Calls of one address that may wait, so that one address cannot take all places. */
const mostWaitingOfAddress = 256;
/**
 * Milliseconds after which a call waits no longer. This is compared when another call ends, so the wait may last longer
 * by one call to the provider, which `timeToLastCall` in `running-relay.ts` counts.
 */
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
  counted: Counted,
  advice = 'The provider refused too many tokens from this address. Try again',
) {
  const counters = createCounters(home, counted);
  /** The calls in flight of each counter, with the callers that wait until a call ends. */
  const callsByCounter = new Map<string, { inFlight: number; readonly waiting: (() => void)[] }>();
  let allWaiting = 0;

  /**
   * Waits until one more call could not exceed the limit, even if all calls in flight were refused. Then it takes a
   * place.
   *
   * @throws {RelayError} `too_many_refusals` or `rate_limited`
   */
  async function takePlace(counter: string, most: number) {
    const begun = performance.now();
    for (;;) {
      // Adding 0 only reads the count.
      const { count: refused, wait } = await counters.add(counter, 0);
      if (refused >= most) throw tooManyRefusals(advice, wait);
      // No await separates check and increment, so no other call can take the same place.
      const calls = callsByCounter.get(counter) ?? { inFlight: 0, waiting: [] };
      if (refused + calls.inFlight < most) {
        calls.inFlight += 1;
        callsByCounter.set(counter, calls);
        return calls;
      }
      const { waiting } = calls;
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
     * Makes a call: an exchange, a lookup or a revocation. If the calls in flight for its address might still reach the
     * limit, it waits for one of them to end. So a burst of made-up codes cannot exceed the limit, and a burst of honest
     * logins does not fail.
     *
     * @throws {RelayError} `too_many_refusals` or `rate_limited`, or why the call failed
     */
    async limit<Result>(address: string, most: number, call: () => Promise<Result>): Promise<Result> {
      const counter = counters.hashToCounter(address);
      const calls = await takePlace(counter, most);
      try {
        return await call();
      } catch (error) {
        if (isFailure(error, ...refusals)) await counters.add(counter, 1);
        throw error;
      } finally {
        calls.inFlight -= 1;
        if (calls.inFlight === 0) callsByCounter.delete(counter);
        for (const resolve of calls.waiting.splice(0)) resolve();
      }
    },
  };
}

function tooManyRefusals(advice: string, wait: number): RelayError {
  const minutes = Math.ceil(wait / 60_000);
  const when = minutes === 1 ? 'a minute' : `${minutes} minutes`;
  return new RelayError('too_many_refusals', { detail: `${advice} in ${when}.`, retryIn: wait });
}
