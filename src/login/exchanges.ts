import { RelayError } from '../failures/relay-error.ts';
import type { Home } from '../memory/home.ts';
import { callOnce, createJointWork } from '../memory/joint-work.ts';
import { kinds } from '../memory/kinds.ts';
import { createOnce } from '../memory/marks.ts';
import type { TokenResponse } from '../oauth/token-response.ts';

export type Exchanges = ReturnType<typeof createExchanges>;

/**
 * Exchanges the code of each plain login once. It remembers the last 16,384 logins. If the callback of an older login
 * is repeated, the provider refuses its code.
 */
export function createExchanges(home: Home) {
  const once = createOnce(home, kinds.exchanges, failAsFinished);
  const join = createJointWork<TokenResponse>();
  return {
    hasBegun: once.isBegunHere,
    /**
     * Makes the exchange of a login. While it waits or is in flight, a repeated callback gets the same result.
     *
     * @param exchange calls `noteSent` before it sends the code. If it fails earlier, the callback can be retried
     * @throws {RelayError} `state_finished` if the exchange is over
     */
    exchangeOnce: (login: string, exchange: (noteSent: () => void) => Promise<TokenResponse>): Promise<TokenResponse> =>
      join(login, async () => {
        if (once.isBegunHere(login)) failAsFinished();
        const { outcome, how } = await callOnce(home, kinds.exchangeResults, login, {
          call: async () => ({ response: await once.run(login, exchange) }),
          // An earlier failure is no answer. After it, `once` decides whether the code may be sent again.
          isAnswer: (outcome, hasWaited) => hasWaited || outcome.response !== undefined,
          keep: () => ({ lifetime: kinds.exchangeResults.lifetime, countsWithoutLock: true }),
        });
        // Another relay finished the exchange before this callback came.
        if (how === 'repeated') failAsFinished();
        if (outcome.response !== undefined) return outcome.response;
        throw new RelayError(outcome.failure ?? 'state_finished');
      }),
  };
}

function failAsFinished(): never {
  throw new RelayError('state_finished');
}
