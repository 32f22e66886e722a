import { RelayError } from '../errors.ts';
import { createJoint, createOnce, type Home } from '../memory/home.ts';

// As long as a state is valid: ten minutes, and a minute for clocks that differ.
const lifetime = 660_000;

/** The token exchanges of the last eleven minutes. Each login has one at most. */
export type Exchanges<Result> = ReturnType<typeof createExchanges<Result>>;

/**
 * Remembers the last 16,384 logins at most. If an older one is repeated, the provider refuses its code.
 */
export function createExchanges<Result>(home: Home) {
  const begun = createOnce(home, lifetime, 16_384);
  const join = createJoint<Result>();
  return {
    /** Whether the exchange of this login has started. */
    has: begun.isBegunHere,
    /**
     * Starts the exchange of a login. If it waits or is in flight, for example after the reload of a slow
     * callback, every caller gets its result.
     *
     * @param exchange calls `spend` before it sends the code. If it fails earlier, the exchange is forgotten,
     *   so that the callback can be retried.
     * @throws {RelayError} `state_finished` if the exchange is over
     */
    once: (login: string, exchange: (spend: () => void) => Promise<Result>): Promise<Result> =>
      join(login, () =>
        begun.run(login, exchange, () => {
          throw new RelayError('state_finished');
        }),
      ),
  };
}
