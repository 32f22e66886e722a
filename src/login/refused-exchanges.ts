import { type FailureCode, RelayError } from '../errors.ts';
import { createCounters, type Home } from '../memory/home.ts';

const windowSeconds = 600;
const mostWaiting = 1024;
// So that one address cannot take every place in the queue.
const mostWaitingForOne = 256;
/** Milliseconds after which an exchange no longer waits for another one to end. */
export const longestWait = 10_000;

/** The failures that follow from an unknown or spent code, or an unknown token. */
const refusals: ReadonlySet<FailureCode> = new Set([
  'code_refused',
  'token_refused',
  'token_missing',
  'token_invalid',
]);

/**
 * Counts refused calls to the provider by client address, for ten minutes. A client with made-up codes or
 * tokens must not use up the requests that the provider allows the relay.
 */
export type RefusedExchanges = ReturnType<typeof createRefusedExchanges>;

/**
 * @param kind the short name of what is refused
 * @param advice what a client reads that has reached the limit, before "in ten minutes"
 */
export function createRefusedExchanges(
  home: Home,
  kind: string,
  advice = 'The provider refused too many tokens from this address. Try again',
) {
  const counters = createCounters(home, kind, windowSeconds);
  const inFlight = new Map<string, number>();
  // Called when an exchange of the counter ends.
  const waiting = new Map<string, (() => void)[]>();
  let waitingInAll = 0;

  function add(key: string, exchanges: 1 | -1): void {
    const count = (inFlight.get(key) ?? 0) + exchanges;
    if (count > 0) inFlight.set(key, count);
    else inFlight.delete(key);
  }

  async function untilOneEnds(key: string): Promise<void> {
    const others = waiting.get(key) ?? [];
    const isFull = waitingInAll >= mostWaiting || others.length >= mostWaitingForOne;
    if (isFull) throw tooManyAtOnce();
    waitingInAll += 1;
    await new Promise<void>((resolve) => {
      others.push(resolve);
      waiting.set(key, others);
    });
    waitingInAll -= 1;
  }

  function wake(key: string): void {
    const resolvers = waiting.get(key) ?? [];
    waiting.delete(key);
    for (const resolve of resolvers) resolve();
  }

  /** Waits for a free place under the limit and takes it. */
  async function takePlace(key: string, most: number): Promise<void> {
    const begun = performance.now();
    for (;;) {
      const { count: refused, wait } = await counters.add(key, 0);
      if (refused >= most) throw tooManyRefusals(advice, wait);
      // There is no await between check and increment, so no other exchange takes the same place.
      if (refused + (inFlight.get(key) ?? 0) < most) {
        add(key, 1);
        return;
      }
      if (performance.now() - begun > longestWait) throw tooManyAtOnce();
      await untilOneEnds(key);
    }
  }

  return {
    /**
     * Runs an exchange for a client. If the exchanges in flight for its address may still reach the limit,
     * it waits for one of them to end. A burst of made-up codes cannot pass the limit, and a burst of
     * honest logins does not fail.
     *
     * @param most refused exchanges from one address
     * @throws {RelayError} `too_many_refusals` or `rate_limited`, before the exchange starts, or why the
     *   exchange failed
     */
    async limit<Result>(
      address: string,
      most: number,
      exchange: () => Promise<Result>,
    ): Promise<Result> {
      const key = counters.counterOf(address);
      await takePlace(key, most);
      try {
        return await exchange();
      } catch (error) {
        const isRefusal = error instanceof RelayError && refusals.has(error.code);
        if (isRefusal) await counters.add(key, 1);
        throw error;
      } finally {
        add(key, -1);
        wake(key);
      }
    },
  };
}

function tooManyAtOnce(): RelayError {
  return new RelayError('rate_limited', { headers: { 'Retry-After': '1' } });
}

function tooManyRefusals(advice: string, wait: number): RelayError {
  const minutes = Math.ceil(wait / 60_000);
  const when = minutes === 1 ? 'a minute' : `${minutes} minutes`;
  return new RelayError('too_many_refusals', {
    detail: `${advice} in ${when}.`,
    headers: { 'Retry-After': String(Math.ceil(wait / 1000)) },
  });
}
