import type { Place } from '../front-ends/front-ends.ts';
import { firstRefreshToken, type RefreshTokenContent } from '../grants/refresh-tokens.ts';
import type { TokenResponse } from '../oauth/token-response.ts';

/** Whose codes and refresh tokens a front end may use. */
export function ownerOf({ registration, frontEnd }: Place) {
  return { registration: registration.audience, frontEnd: frontEnd.audience };
}

/**
 * Grants a token, and a refresh token if there is one that is not over already, and not too long. The provider's own
 * one stays in the relay.
 *
 * @param content what the refresh token holds; undefined: there is none
 */
export function withRefreshToken(
  place: Place,
  token: Omit<TokenResponse, 'refreshToken' | 'refreshExpiresIn'>,
  content: RefreshTokenContent | undefined,
): TokenResponse {
  const { grants, now } = place;
  const left = Math.floor((content?.endsAt ?? 0) - now() / 1000);
  const refreshToken =
    content && left > 0 ? grants.refreshTokens.issue(content, ownerOf(place)) : undefined;
  const refreshExpiresIn = refreshToken === undefined ? undefined : left;
  return { ...token, refreshToken, refreshExpiresIn };
}

/**
 * Grants the token of a new login, with the first refresh token if the front end gets one.
 *
 * @param thumbprint that of the key that the front end proves, if it proves one
 * @param login what the refresh token has of the login besides
 */
export function firstGrant(
  place: Place,
  token: TokenResponse,
  thumbprint?: string,
  login: Pick<RefreshTokenContent, 'redirectUri' | 'resource' | 'hasConsent' | 'address'> = {},
): TokenResponse {
  const policy = refreshPolicyAt(place);
  const content = policy && firstRefreshToken(policy, token, thumbprint, place.now);
  return withRefreshToken(place, token, content && { ...content, ...login });
}

/** @returns undefined if the front end gets no refresh tokens */
export function refreshPolicyAt({ registration, frontEnd: { refreshPolicy } }: Place) {
  // Where the provider revokes no refresh tokens.
  const keepsAccessToken = registration.provider.revocation?.takes === 'access_token';
  return refreshPolicy && { ...refreshPolicy, keepsAccessToken };
}
