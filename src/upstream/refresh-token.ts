import {
  type RefreshGrant,
  refreshTokenRequest,
  type TokenEndpoint,
} from '../oauth/token-request.ts';
import { parseTokenResponse, type TokenResponse } from '../oauth/token-response.ts';
import type { ObserveCall, UpstreamClient } from './client.ts';

/**
 * Asks for a new access token.
 *
 * @returns without a refresh token if the one that was sent stays valid
 * @throws {RelayError} `refresh_refused`, why else there is no token, or why the call itself failed
 * @see RFC 6749 §6
 */
export async function refreshToken(
  client: UpstreamClient,
  endpoint: TokenEndpoint,
  grant: RefreshGrant,
  observe: ObserveCall,
): Promise<TokenResponse> {
  const request = { endpoint: 'token', ...refreshTokenRequest(endpoint, grant) } as const;
  return parseTokenResponse(await client.call(request, observe), endpoint, 'refresh_token');
}
