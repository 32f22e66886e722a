import { createProofs, type Proofs } from './proofs.ts';
import { createRedeemedCodes, type RedeemedCodes } from './redeemed-codes.ts';
import { createRefreshes, type Refreshes } from './refreshes.ts';

/** What a process remembers of grants, for minutes. A reload of the configuration keeps it. */
export interface GrantMemory {
  readonly proofs: Proofs;
  readonly redeemedCodes: RedeemedCodes;
  readonly refreshes: Refreshes;
}

/** @param now milliseconds since 1970 */
export function createGrantMemory(now: () => number): GrantMemory {
  return {
    proofs: createProofs(now),
    redeemedCodes: createRedeemedCodes(now),
    refreshes: createRefreshes(now),
  };
}
