import { randomBytes } from 'node:crypto';
import type { Provider } from '../providers/provider.ts';
import { withParameters } from './query.ts';

/** Bytes of randomness in a nonce. */
const nonceLength = 16;

/**
 * Builds the URL of the authorization request. An existing query of the endpoint is kept.
 *
 * @see RFC 6749 §4.1.1
 */
export function authorizationRequestUrl(
  client: { readonly clientId: string; readonly redirectUri: string },
  provider: Pick<Provider, 'authorizeUrl' | 'scope' | 'authorizeParameters'>,
): string {
  const required = {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    ...(provider.scope !== undefined && { scope: provider.scope }),
  };
  return withParameters(provider.authorizeUrl, [
    ...Object.entries(required),
    ...(provider.authorizeParameters ?? []),
  ]);
}

/** The parameters of one login. Each is base64url, and left out if it is undefined. */
export interface LoginParameters {
  /** @see RFC 6749 §10.12 */
  readonly state?: string | undefined;
  /** The S256 challenge. @see RFC 7636 §4.3 */
  readonly codeChallenge?: string | undefined;
  /** @see OpenID Connect Core 1.0 §3.1.2.1 */
  readonly nonce?: string | undefined;
}

/**
 * Adds the parameters of one login to the authorization request.
 *
 * @param authorizationRequestUrl as {@link authorizationRequestUrl} returns it: it has a query
 */
export function withLoginParameters(
  authorizationRequestUrl: string,
  { state, codeChallenge, nonce }: LoginParameters,
): string {
  // Base64url needs no encoding. Parsing the URL again would slow down every login.
  let url = authorizationRequestUrl;
  if (state !== undefined) url += `&state=${state}`;
  if (nonce !== undefined) url += `&nonce=${nonce}`;
  if (codeChallenge !== undefined) {
    url += `&code_challenge=${codeChallenge}&code_challenge_method=S256`;
  }
  return url;
}

/**
 * A random nonce for one login, if the scope has `openid`. Some servers insist on it with that scope,
 * others refuse it without. Nobody compares it: the relay reads no ID token, and PKCE binds the code.
 */
export function newNonce(scope: string | undefined): string | undefined {
  if (!scope?.split(' ').includes('openid')) return undefined;
  return randomBytes(nonceLength).toString('base64url');
}
