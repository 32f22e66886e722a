import type { Clock } from '../clock.ts';
import { hashKey } from '../memory/expiring-map.ts';
import type { Home } from '../memory/home.ts';
import { createJointWork } from '../memory/joint-work.ts';
import { kinds } from '../memory/kinds.ts';
import { createOnce } from '../memory/marks.ts';
import type { EndpointParameters } from '../oauth/endpoint-parameters.ts';
import type { RevocableTokens } from '../oauth/revocation.ts';
import { createAccessTokens } from '../resources/access-tokens.ts';
import { createEndedLogins } from '../resources/ended-logins.ts';
import type { Keys } from '../sealing/keys.ts';
import { createCodes } from './codes.ts';
import { createNonces, createProofs } from './dpop-proofs.ts';
import { createAssertions } from './machine-assertions.ts';
import { createRedemptions } from './redemptions.ts';
import { createRefreshes } from './refresh-once.ts';
import { createRefreshTokens } from './refresh-tokens.ts';
import { createGenerations } from './rotation-and-reuse.ts';

/** The memory of a process for grants. It survives a reload of the configuration. */
export type GrantMemory = ReturnType<typeof createGrantMemory>;

export function createGrantMemory(home: Home) {
  return {
    assertions: createAssertions(home),
    endedLogins: createEndedLogins(home),
    generations: createGenerations(home),
    proofs: createProofs(home),
    redemptions: createRedemptions(home),
    refreshes: createRefreshes(home),
    revocations: createRevocations(home),
  };
}

/** Makes each revocation once. It remembers at most 4096 revocations, each for 60 seconds. */
export function createRevocations(home: Home) {
  const revoked = createOnce(home, kinds.revocations, () => {});
  const join = createJointWork<void>();
  return {
    /**
     * Revokes the tokens of a login, unless that was done in the last minute. Otherwise, a page that repeats its
     * revocation would use up the requests that the provider allows the relay. A failed revocation may be repeated.
     */
    async revokeOnce({ refreshToken, accessToken }: RevocableTokens, revoke: () => Promise<void>) {
      const key = hashKey(refreshToken, accessToken);
      await join(key, () => revoked.run(key, revoke));
    },
  };
}

export type Grants = ReturnType<typeof createGrants>;

/**
 * Creates all that a registration grants to front ends at one of its paths.
 *
 * @param registrationAudience returns the text that binds codes and refresh tokens to their registration. It throws a
 *   `RelayError` if no provider is known
 * @param place the binding of codes: the callback URL of the logins, which the provider compares with each code, and
 *   the path if several paths share that URL
 */
export function createGrants(
  keys: Keys,
  registrationAudience: () => string,
  place: string,
  memory: GrantMemory,
  now: Clock,
) {
  const codes = createCodes(keys.code, () => `${registrationAudience()} ${place}`, now);
  const refreshTokens = createRefreshTokens(keys.refreshToken, now);
  return {
    ...memory,
    accessTokens: createAccessTokens(keys.accessToken, now),
    codes,
    nonces: createNonces(keys.nonce, now),
    refreshTokens,
    /**
     * Reads the redirect URI from the code or refresh token in a request. The origin of an unregistered client follows
     * from it. A token request sends `code` or `refresh_token`, a revocation `token`.
     */
    readRedirectUri(
      { code, refresh_token, token: revoked }: EndpointParameters,
      { audience: frontEndAudience }: { readonly audience: string },
    ): string | undefined {
      if (code !== undefined) return codes.openExpired(code, frontEndAudience)?.login.redirectUri;
      const refreshToken = revoked ?? refresh_token;
      if (refreshToken === undefined) return undefined;
      const content = refreshTokens.openExpired(refreshToken, [registrationAudience(), frontEndAudience]);
      return content?.redirectUri;
    },
  };
}
