import { RelayError } from '../failures/relay-error.ts';
import { createJoint, createOnce, type Home, lead } from '../memory/home.ts';
import { kinds } from '../memory/kinds.ts';
import type { TokenResponse } from '../oauth/token-response.ts';

/** The token exchanges of the last eleven minutes. Each login has one at most. */
export type Exchanges = ReturnType<typeof createExchanges>;

/** Remembers the last 16,384 logins at most. If an older one is repeated, the provider refuses its code. */
export function createExchanges(home: Home) {
  const begun = createOnce(home, kinds.exchanges, failAsFinished);
  const join = createJoint<TokenResponse>();
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
    once: (login: string, exchange: (spend: () => void) => Promise<TokenResponse>): Promise<TokenResponse> =>
      join(login, async () => {
        if (begun.isBegunHere(login)) failAsFinished();
        const { outcome, how } = await lead(home, kinds.exchangeResults, login, {
          call: async () => ({ response: await begun.run(login, exchange) }),
          // A failure that was there before is no answer: `begun` knows whether the code may be sent again.
          isAnswer: (outcome, hasWaited) => hasWaited || outcome.response !== undefined,
          keep: () => ({ lifetime: kinds.exchangeResults.lifetime, always: true }),
        });
        // Another relay ended the exchange before this callback came.
        if (how === 'repeated') failAsFinished();
        if (outcome.response !== undefined) return outcome.response;
        throw new RelayError(outcome.failure ?? 'state_finished');
      }),
  };
}

function failAsFinished(): never {
  throw new RelayError('state_finished');
}
