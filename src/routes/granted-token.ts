import type { RefreshTokenContent } from '../grants/refresh-tokens.ts';
import type { TokenResponse } from '../oauth/token-response.ts';

/** A token for the front end. Its refresh token, if it has one, is one of the relay. */
export type GrantedToken = TokenResponse;

/** The provider's own refresh token stays in the relay. */
type WithoutRefreshToken = Omit<TokenResponse, 'refreshToken' | 'refreshExpiresIn'>;

/** Grants a token alone. */
export function withoutRefreshToken(token: WithoutRefreshToken): GrantedToken {
  return { ...token, refreshToken: undefined, refreshExpiresIn: undefined };
}

/**
 * Grants a token, and a refresh token if there is one that is not over already.
 *
 * @param issue gives undefined for a content that is too long
 * @param content what the refresh token holds; undefined: there is none
 * @param now milliseconds since 1970
 */
export function withRefreshToken(
  issue: (content: RefreshTokenContent) => string | undefined,
  token: WithoutRefreshToken,
  content: RefreshTokenContent | undefined,
  now: () => number,
): GrantedToken {
  if (content === undefined) return withoutRefreshToken(token);
  const refreshExpiresIn = Math.floor(content.endsAt - now() / 1000);
  const refreshToken = refreshExpiresIn > 0 ? issue(content) : undefined;
  if (refreshToken === undefined) return withoutRefreshToken(token);
  return { ...token, refreshToken, refreshExpiresIn };
}
