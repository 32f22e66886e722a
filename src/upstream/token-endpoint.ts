import {
  type CodeGrant,
  type RefreshGrant,
  refreshTokenRequest,
  type TokenEndpoint,
  tokenRequest,
} from '../oauth/token-request.ts';
import { parseTokenResponse, type TokenResponse } from '../oauth/token-response.ts';
import type { ObserveCall } from './call.ts';
import type { UpstreamClient } from './client.ts';

/**
 * Exchanges an authorization code for an access token.
 *
 * @throws {RelayError} why there is no token, or why the call itself failed
 * @see RFC 6749 §4.1.3
 */
export async function exchangeCode(
  client: UpstreamClient,
  endpoint: TokenEndpoint,
  grant: CodeGrant,
  observe: ObserveCall,
): Promise<TokenResponse> {
  const request = { endpoint: 'token', ...tokenRequest(endpoint, grant) } as const;
  return parseTokenResponse(await client.call(request, observe), endpoint);
}

/**
 * Requests a new access token.
 *
 * @returns a response without a refresh token if the old refresh token stays valid
 * @throws {RelayError} `refresh_refused` or another reason that there is no token, or why the call failed
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
