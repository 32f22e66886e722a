import type { Clock } from '../clock.ts';
import { createRequestCount } from '../http/rate-limit.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { createExchanges } from './exchanges.ts';
import { createRefusedExchanges } from './refused-exchanges.ts';

/** What a process remembers of logins. A reload of the configuration keeps it. */
export type LoginMemory = ReturnType<typeof createLoginMemory>;

export function createLoginMemory(now: Clock) {
  return {
    exchanges: createExchanges<TokenResponse>(now),
    refusedExchanges: createRefusedExchanges(
      'The provider refused too many logins from this address. Start the login again',
    ),
    /** Access tokens that the provider did not know when they were revoked. */
    refusedRevocations: createRefusedExchanges(),
    refusedLookups: createRefusedExchanges(),
    /** Counts the exchanges of each client address, refused or not, for ten minutes. */
    countExchange: createRequestCount(600),
  };
}
