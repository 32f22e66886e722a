import type { TokenResponse } from '../oauth/token-response.ts';
import { createExchanges, type Exchanges } from './exchanges.ts';
import { createRefusedExchanges, type RefusedExchanges } from './refused-exchanges.ts';

/** What a process remembers of logins. A reload of the configuration keeps it. */
export interface LoginMemory {
  readonly exchanges: Exchanges<TokenResponse>;
  readonly refusedExchanges: RefusedExchanges;
  /** Access tokens that the provider did not know when they were revoked. */
  readonly refusedRevocations: RefusedExchanges;
}

/** @param now milliseconds since 1970 */
export function createLoginMemory(now: () => number): LoginMemory {
  return {
    exchanges: createExchanges(now),
    refusedExchanges: createRefusedExchanges(),
    refusedRevocations: createRefusedExchanges(),
  };
}
