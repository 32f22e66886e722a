import type { ExtraParameters } from '../providers/provider.ts';
import {
  authenticatedForm,
  clientParameters,
  type EndpointRequest,
  type RegisteredProvider,
} from './client-authentication.ts';
import { optional, withParameters } from './query.ts';

/** An authorization code, and the verifier to exchange it. */
export interface CodeGrant {
  readonly code: string;
  /** The PKCE verifier, if the authorization request had a challenge. @see RFC 7636 §4.5 */
  readonly codeVerifier: string | undefined;
}

/** A refresh token, and the scope to ask for. */
export interface RefreshGrant {
  readonly refreshToken: string;
  /** Words of the granted scope (default: all of them). */
  readonly scope?: string | undefined;
}

/**
 * Builds the token request for a code or a refresh token, in the form that the provider accepts. With `query`, the
 * secret is in the URL of the request for a code, as the contract says; it never is for a refresh token.
 *
 * @see RFC 6749 §4.1.3 and §6
 */
export function tokenRequest(endpoint: RegisteredProvider, grant: CodeGrant | RefreshGrant): EndpointRequest {
  const { tokenUrl, tokenParameters = [], requestHeaders: headers = {} } = endpoint;
  const isRefresh = 'refreshToken' in grant;
  const own: ExtraParameters = isRefresh
    ? [['refresh_token', grant.refreshToken], ...optional('scope', grant.scope)]
    : [['code', grant.code], ['redirect_uri', endpoint.callbackUri], ...optional('code_verifier', grant.codeVerifier)];
  const configured = tokenParameters.filter(([name]) => own.every(([taken]) => taken !== name));
  const fields = [...own, ...configured];
  if (endpoint.clientAuthentication === 'query' && !isRefresh) {
    const url = withParameters(tokenUrl, [...clientParameters(endpoint), ...fields]);
    return { method: 'POST', url, headers };
  }
  const type = isRefresh ? 'refresh_token' : 'authorization_code';
  return authenticatedForm(endpoint, tokenUrl, [['grant_type', type], ...fields]);
}
