import type { Clock } from '../clock.ts';
import type { Keys } from '../keys.ts';
import { createCodes } from './codes.ts';
import { createNonces, createProofs } from './proofs.ts';
import { createRedeemedCodes } from './redeemed-codes.ts';
import { createRefreshTokens, type RefreshPolicy } from './refresh-tokens.ts';
import { createRefreshes } from './refreshes.ts';
import { createRevocations } from './revocations.ts';

/** What a process remembers of grants, for a few minutes. A reload of the configuration keeps it. */
export type GrantMemory = ReturnType<typeof createGrantMemory>;

export function createGrantMemory(now: Clock) {
  return {
    proofs: createProofs(now),
    redeemedCodes: createRedeemedCodes(now),
    refreshes: createRefreshes(now),
    revocations: createRevocations(now),
  };
}

/** What the relay grants to front ends at one registration, and what this process remembers of it. */
export type Grants = ReturnType<typeof createGrants>;

/**
 * @param keys the keys of the registration
 * @param audience that of the registration. Throws as `provider` does
 * @param refreshPolicy undefined: no refresh tokens are issued or taken
 */
export function createGrants(
  keys: Keys,
  audience: () => string,
  refreshPolicy: RefreshPolicy | undefined,
  memory: GrantMemory,
  now: Clock,
) {
  return {
    ...memory,
    codes: createCodes(keys.code, audience, now),
    /** The nonces of proofs. */
    nonces: createNonces(keys.nonce, now),
    refreshTokens: createRefreshTokens(keys.refreshToken, now),
    refreshPolicy,
  };
}
