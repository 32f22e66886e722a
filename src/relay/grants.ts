import type { Clock } from '../clock.ts';
import type { RelaySettings } from '../config/config.ts';
import { createCodes } from '../grants/codes.ts';
import type { GrantMemory, Grants } from '../grants/grants.ts';
import { createNonces } from '../grants/proofs.ts';
import { createRefreshTokens } from '../grants/refresh-tokens.ts';
import type { Keys } from '../keys.ts';
import { issuesRefreshTokens } from './registration-config.ts';

/**
 * Creates what the relay grants to front ends at one registration.
 *
 * @param keys the keys of the registration
 * @param audience that of the registration. Throws as `provider` does
 */
export function createGrants(
  config: RelaySettings,
  keys: Keys,
  audience: () => string,
  memory: GrantMemory,
  now: Clock,
): Grants {
  const { refreshTokens: mode, refreshLifetime: lifetime } = config;
  const refreshes = mode !== 'off' && issuesRefreshTokens(config);
  return {
    ...memory,
    codes: createCodes(keys.code, audience, now),
    nonces: createNonces(keys.nonce, now),
    refreshTokens: createRefreshTokens(keys.refreshToken, now),
    refreshPolicy: refreshes ? { mode, lifetime } : undefined,
  };
}
