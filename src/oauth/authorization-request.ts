import type { Provider } from '../providers/provider.ts';
import { withParameters } from './query.ts';

/**
 * Builds the URL of the authorization request. An existing query of the endpoint is kept.
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
  /** The S256 challenge, base64url; undefined if the provider does not support PKCE. */
  readonly codeChallenge: string | undefined;
}

/**
 * Adds the parameters of one login to the authorization request.
 *
 * @param authorizationRequestUrl as {@link authorizationRequestUrl} returns it: it has a query
 */
export function withProtection(
  authorizationRequestUrl: string,
  { state, codeChallenge }: ProtectionParameters,
): string {
  // Both are base64url and need no encoding. Parsing the URL again would slow down every login.
  const url = `${authorizationRequestUrl}&state=${state}`;
  return codeChallenge === undefined
    ? url
    : `${url}&code_challenge=${codeChallenge}&code_challenge_method=S256`;
}
