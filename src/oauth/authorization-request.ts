import { randomBytes } from 'node:crypto';
import type { Provider } from '../providers/provider.ts';
import { withParameters } from './query.ts';

/** Bytes of randomness in a nonce. */
const nonceLength = 16;

/** What one login asks for. */
export interface AuthorizationOptions {
  /** A part of the configured scope; all of it if it is left out. */
  readonly scope?: string | undefined;
  /** Whether to ask for a refresh token too. */
  readonly refresh?: boolean;
}

/**
 * Builds the URL of the authorization request. An existing query of the endpoint is kept.
 *
 * @see RFC 6749 §4.1.1
 */
export function authorizationRequestUrl(
  client: { readonly clientId: string; readonly redirectUri: string },
  provider: Pick<Provider, 'authorizeUrl' | 'scope' | 'authorizeParameters' | 'refreshRequest'>,
  { scope = provider.scope, refresh = false }: AuthorizationOptions = {},
): string {
  const { authorizeUrl, authorizeParameters = [], refreshRequest = {} } = provider;
  const forRefresh = refresh ? refreshRequest : {};
  const asked = union(scope, forRefresh.scope);
  const required = {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    ...(asked !== undefined && { scope: asked }),
  };
  const configured = new URL(authorizeUrl).searchParams;
  for (const [name, value] of authorizeParameters) configured.append(name, value);
  const further = (forRefresh.parameters ?? []).filter(([name]) => !configured.has(name));
  return withParameters(authorizeUrl, [
    ...Object.entries(required),
    ...authorizeParameters,
    ...further,
  ]);
}

/** The words of both scopes, each once. */
function union(scope: string | undefined, more: string | undefined): string | undefined {
  if (more === undefined) return scope;
  return [...new Set([...(scope?.split(' ') ?? []), ...more.split(' ')])].join(' ');
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
 * A random nonce for one login, if the scope has `openid`. Some servers require it with that scope, and
 * others refuse it without. The relay never compares it: it reads no ID token, and PKCE binds the code.
 */
export function newNonce(scope: string | undefined): string | undefined {
  if (!scope?.split(' ').includes('openid')) return undefined;
  return randomBytes(nonceLength).toString('base64url');
}
