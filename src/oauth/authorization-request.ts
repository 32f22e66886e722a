import type { Provider } from '../providers/provider.ts';
import { withParameters } from './query.ts';

/**
 * Builds the URL that sends the browser to the provider. A query that the authorization endpoint
 * already has is kept.
 *
 * @see RFC 6749 §4.1.1
 */
export function authorizationRequestUrl(
  client: { readonly clientId: string; readonly redirectUri: string },
  provider: Pick<Provider, 'authorizeUrl' | 'scope'>,
): string {
  return withParameters(provider.authorizeUrl, {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    ...(provider.scope !== undefined && { scope: provider.scope }),
  });
}

/** The parameters that protect one login. @see RFC 6749 §10.12, RFC 7636 §4.3 */
export interface ProtectionParameters {
  /** Base64url. */
  readonly state: string;
  /** The S256 challenge, base64url, where the provider takes PKCE. */
  readonly codeChallenge: string | undefined;
}

/**
 * The authorization request of one protected login.
 *
 * @param authorizationRequestUrl as built above, so that it has a query already
 */
export function withProtection(
  authorizationRequestUrl: string,
  { state, codeChallenge }: ProtectionParameters,
): string {
  // Both are base64url, which needs no encoding; parsing the URL again would cost every login.
  const url = `${authorizationRequestUrl}&state=${state}`;
  return codeChallenge === undefined
    ? url
    : `${url}&code_challenge=${codeChallenge}&code_challenge_method=S256`;
}
