import {
  parseRevocationResponse,
  type RevocableTokens,
  type RevocationEndpoint,
  revocationRequest,
} from '../oauth/revocation.ts';
import type { ObserveCall } from './call.ts';
import type { UpstreamClient } from './client.ts';

/**
 * Revokes the tokens of a login. Without a call, if the provider does not revoke them.
 *
 * @throws {RelayError} `token_invalid` if the provider does not know the token, `client_refused`,
 *   `provider_answer_unusable` if the token may still be valid, or why the call itself failed
 * @see RFC 7009
 */
export async function revokeToken(
  client: UpstreamClient,
  endpoint: RevocationEndpoint,
  tokens: RevocableTokens,
  observe: ObserveCall,
): Promise<void> {
  const { revocation } = endpoint;
  const request = revocationRequest(endpoint, tokens);
  if (revocation === undefined || request === undefined) return;
  const answer = await client.call({ endpoint: 'revocation', ...request }, observe);
  parseRevocationResponse(answer, revocation.request);
}
