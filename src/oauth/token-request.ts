import type { ExtraParameters, Provider } from '../providers/provider.ts';
import {
  authenticatedForm,
  type ClientRequest,
  clientParameters,
  type ProviderClient,
} from './client-authentication.ts';
import { optional, withParameters } from './query.ts';

/** The client as registered at the provider, and its token endpoint. */
export interface TokenEndpoint
  extends ProviderClient,
    Pick<Provider, 'tokenUrl' | 'tokenParameters' | 'tokenResponse'> {
  readonly redirectUri: string;
}

/** An authorization code, and the verifier to exchange it. */
export interface CodeGrant {
  readonly code: string;
  /** The PKCE verifier, if the authorization request had a challenge. @see RFC 7636 §4.5 */
  readonly codeVerifier: string | undefined;
}

/** A refresh token, and the requested scope. */
export interface RefreshGrant {
  readonly refreshToken: string;
  /** Words of the granted scope (default: all of them). */
  readonly scope?: string | undefined;
}

/**
 * Builds the token request for a code, in the form that the provider accepts. With `query`, the secret is
 * in the URL, as the contract says.
 *
 * @see RFC 6749 §4.1.3
 */
export function tokenRequest(
  endpoint: TokenEndpoint,
  { code, codeVerifier }: CodeGrant,
): ClientRequest {
  const { tokenUrl, tokenParameters = [], requestHeaders: headers = {} } = endpoint;
  const fields: ExtraParameters = [
    ['code', code],
    ['redirect_uri', endpoint.redirectUri],
    ...optional('code_verifier', codeVerifier),
    ...tokenParameters,
  ];
  if (endpoint.clientAuthentication === 'query') {
    const url = withParameters(tokenUrl, [...clientParameters(endpoint), ...fields]);
    return { method: 'POST', url, headers };
  }
  return authenticatedForm(endpoint, tokenUrl, [['grant_type', 'authorization_code'], ...fields]);
}

/**
 * Builds the token request for a refresh token. The secret never travels in the URL.
 *
 * @see RFC 6749 §6
 */
export function refreshTokenRequest(
  endpoint: TokenEndpoint,
  { refreshToken, scope }: RefreshGrant,
): ClientRequest {
  const fields: ExtraParameters = [
    ['grant_type', 'refresh_token'],
    ['refresh_token', refreshToken],
    ...optional('scope', scope),
  ];
  const taken = new Set(fields.map(([name]) => name));
  const { tokenUrl, tokenParameters = [] } = endpoint;
  const further = tokenParameters.filter(([name]) => !taken.has(name));
  return authenticatedForm(endpoint, tokenUrl, [...fields, ...further]);
}
