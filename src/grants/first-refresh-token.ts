import type { TokenResponse } from '../oauth/token-response.ts';
import type { ProviderToken, RefreshTokenContent } from './refresh-tokens.ts';

/** Which front ends get refresh tokens, and for how long. */
export interface RefreshPolicy {
  /** `bound`: only front ends that prove a key. `bearer`: all of them. */
  readonly mode: 'bound' | 'bearer';
  /** Seconds from the login until the last refresh token expires. */
  readonly lifetime: number;
}

/** The policy for one front end. */
export function policyFor(
  policy: RefreshPolicy,
  { keyRequired }: { readonly keyRequired: boolean },
): RefreshPolicy {
  return keyRequired ? { ...policy, mode: 'bound' } : policy;
}

/** The policy at one provider. */
export interface ProviderRefreshPolicy extends RefreshPolicy {
  /** Whether refresh tokens hold the access token too: the provider revokes nothing else. */
  readonly keepsAccessToken: boolean;
}

/** A login that a front end redeems. */
export interface RedeemedLogin {
  readonly registration: string;
  readonly frontEnd: string;
  /** The thumbprint of the key that the front end proves; undefined if it proves none. */
  readonly thumbprint: string | undefined;
}

/**
 * What the first refresh token of a login holds.
 *
 * @param now milliseconds since 1970
 * @returns undefined if the policy grants none
 */
export function firstRefreshToken(
  { mode, lifetime, keepsAccessToken }: ProviderRefreshPolicy,
  token: TokenResponse,
  login: RedeemedLogin,
  now: () => number,
): RefreshTokenContent | undefined {
  if (mode === 'bound' && login.thumbprint === undefined) return undefined;
  const loggedInAt = Math.floor(now() / 1000);
  const providerToken = providerTokenOf(token, keepsAccessToken, loggedInAt);
  const most = 'refreshToken' in providerToken ? token.refreshExpiresIn : token.expiresIn;
  const endsAt = loggedInAt + Math.min(lifetime, most ?? lifetime);
  return { ...login, scope: token.scope, loggedInAt, endsAt, providerToken };
}

function providerTokenOf(
  { accessToken, tokenType, expiresIn, refreshToken }: TokenResponse,
  keepsAccessToken: boolean,
  now: number,
): ProviderToken {
  if (refreshToken !== undefined) {
    return { refreshToken, ...(keepsAccessToken && { accessToken }) };
  }
  const endsAt = expiresIn === undefined ? undefined : now + expiresIn;
  return { accessToken, tokenType, endsAt };
}
