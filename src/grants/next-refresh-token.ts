import type { ProviderRefreshPolicy, RefreshPolicy } from './first-refresh-token.ts';
import type { RefreshTokenContent } from './refresh-tokens.ts';
import type { Refreshed } from './refreshes.ts';

/**
 * Whether the policy of today still grants what an earlier one has granted.
 *
 * @param now milliseconds since 1970
 */
export function isStillGranted(
  { mode, lifetime }: RefreshPolicy,
  { thumbprint, loggedInAt }: RefreshTokenContent,
  now: () => number,
): boolean {
  return (mode === 'bearer' || thumbprint !== undefined) && now() < (loggedInAt + lifetime) * 1000;
}

/**
 * What the refresh token holds that follows after a refresh.
 *
 * @param login what the earlier refresh token holds
 * @param now milliseconds since 1970
 */
export function nextRefreshToken(
  { lifetime, keepsAccessToken }: ProviderRefreshPolicy,
  login: RefreshTokenContent,
  { accessToken, refreshToken, refreshExpiresIn }: Refreshed,
  now: () => number,
): RefreshTokenContent {
  const { loggedInAt, providerToken } = login;
  const isSame = 'refreshToken' in providerToken && providerToken.refreshToken === refreshToken;
  // The end that the provider tells now, or else told earlier of the same token.
  const told = refreshExpiresIn !== undefined ? now() / 1000 + refreshExpiresIn : undefined;
  const providerEnd = told ?? (isSame ? login.endsAt : Number.POSITIVE_INFINITY);
  return {
    ...login,
    endsAt: Math.min(loggedInAt + lifetime, Math.floor(providerEnd)),
    providerToken: { refreshToken, ...(keepsAccessToken && { accessToken }) },
  };
}
