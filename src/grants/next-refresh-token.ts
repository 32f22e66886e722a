import type { ProviderRefreshPolicy, RefreshPolicy } from './first-refresh-token.ts';
import type { RefreshTokenContent } from './refresh-tokens.ts';
import type { Refreshed } from './refreshes.ts';

/**
 * Whether the current policy still allows a refresh token of an earlier policy.
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
 * The content of the refresh token after a refresh.
 *
 * @param login the content of the earlier refresh token
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
  // The end in this response. If there is none, the end that was known of the same token.
  const told = refreshExpiresIn !== undefined ? now() / 1000 + refreshExpiresIn : undefined;
  const providerEnd = told ?? (isSame ? login.endsAt : Number.POSITIVE_INFINITY);
  return {
    ...login,
    endsAt: Math.min(loggedInAt + lifetime, Math.floor(providerEnd)),
    providerToken: { refreshToken, ...(keepsAccessToken && { accessToken }) },
  };
}
