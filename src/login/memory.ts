import type { Clock } from '../clock.ts';
import { type CountRequest, createRequestCount } from '../http/rate-limit.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { createExchanges, type Exchanges } from './exchanges.ts';
import { createRefusedExchanges, type RefusedExchanges } from './refused-exchanges.ts';

/** What a process remembers of logins. A reload of the configuration keeps it. */
export interface LoginMemory {
  readonly exchanges: Exchanges<TokenResponse>;
  readonly refusedExchanges: RefusedExchanges;
  /** Access tokens that the provider did not know when they were revoked. */
  readonly refusedRevocations: RefusedExchanges;
  readonly refusedLookups: RefusedExchanges;
  /** Counts the exchanges of each client address, refused or not, for ten minutes. */
  readonly countExchange: CountRequest;
}

export function createLoginMemory(now: Clock): LoginMemory {
  return {
    exchanges: createExchanges(now),
    refusedExchanges: createRefusedExchanges(
      'The provider refused too many logins from this address. Start the login again',
    ),
    refusedRevocations: createRefusedExchanges(),
    refusedLookups: createRefusedExchanges(),
    countExchange: createRequestCount(600),
  };
}
