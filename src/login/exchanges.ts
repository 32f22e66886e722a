import type { Clock } from '../clock.ts';
import { RelayError } from '../errors.ts';

// As long as a state is valid: ten minutes, and a minute for clocks that differ.
const lifetime = 660_000;
const mostRemembered = 16_384;

/** The token exchanges of the last eleven minutes. Each login has one at most. */
export type Exchanges<Result> = ReturnType<typeof createExchanges<Result>>;

interface Started<Result> {
  readonly at: number;
  /** Undefined once the exchange is over, so that no token stays in memory. */
  result: Promise<Result> | undefined;
}

/**
 * Remembers the last 16,384 logins at most. If an older one is repeated, the provider refuses its code.
 */
export function createExchanges<Result>(now: Clock) {
  // Oldest first.
  const exchanges = new Map<string, Started<Result>>();

  function forgetOld(): void {
    for (const [login, { at }] of exchanges) {
      if (at > now() - lifetime && exchanges.size < mostRemembered) return;
      exchanges.delete(login);
    }
  }

  return {
    /** Whether the exchange of this login has started. */
    has: (login: string): boolean => exchanges.has(login),
    /**
     * Starts the exchange of a login. If it waits or is in flight, for example after the reload of a slow
     * callback, every caller gets its result.
     *
     * @param exchange calls `spend` before it sends the code. If it fails earlier, the exchange is forgotten,
     *   so that the callback can be retried.
     * @throws {RelayError} `state_finished` if the exchange is over
     */
    once(login: string, exchange: (spend: () => void) => Promise<Result>): Promise<Result> {
      const known = exchanges.get(login);
      if (known !== undefined) {
        return known.result ?? Promise.reject(new RelayError('state_finished'));
      }
      forgetOld();
      const started: Started<Result> = { at: now(), result: undefined };
      let spent = false;
      const spend = (): void => {
        spent = true;
      };
      const result = exchange(spend).finally(() => {
        started.result = undefined;
        if (!spent && exchanges.get(login) === started) exchanges.delete(login);
      });
      started.result = result;
      exchanges.set(login, started);
      return result;
    },
  };
}
