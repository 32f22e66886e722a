import type { Clock } from '../clock.ts';
import type { Codes } from './codes.ts';
import { createProofs, type Nonces, type Proofs } from './proofs.ts';
import { createRedeemedCodes, type RedeemedCodes } from './redeemed-codes.ts';
import type { RefreshPolicy, RefreshTokens } from './refresh-tokens.ts';
import { createRefreshes, type Refreshes } from './refreshes.ts';
import { createRevocations, type Revocations } from './revocations.ts';

/** What the relay grants to front ends, and what this process remembers of it. */
export interface Grants extends GrantMemory {
  readonly codes: Codes;
  /** The nonces of proofs. */
  readonly nonces: Nonces;
  readonly refreshTokens: RefreshTokens;
  /** Undefined: no refresh tokens are issued or taken. */
  readonly refreshPolicy: RefreshPolicy | undefined;
}

/** What a process remembers of grants, for a few minutes. A reload of the configuration keeps it. */
export interface GrantMemory {
  readonly proofs: Proofs;
  readonly redeemedCodes: RedeemedCodes;
  readonly refreshes: Refreshes;
  readonly revocations: Revocations;
}

export function createGrantMemory(now: Clock): GrantMemory {
  return {
    proofs: createProofs(now),
    redeemedCodes: createRedeemedCodes(now),
    refreshes: createRefreshes(now),
    revocations: createRevocations(now),
  };
}
