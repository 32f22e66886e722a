import type { ExtraParameters } from '../providers/provider.ts';
import {
  authenticatedForm,
  clientParameters,
  type EndpointRequest,
  isBasic,
  jsonRequest,
  type RegisteredProvider,
} from './client-authentication.ts';
import { optional, withParameters } from './query.ts';
import { scopeInRequest } from './scope.ts';

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
  const { tokenUrl, refreshUrl = tokenUrl, tokenParams = [], requestHeaders: headers = {} } = endpoint;
  const isRefresh = 'refreshToken' in grant;
  const form = endpoint.tokenRequest;
  const credentials = isBasic(form) ? [] : clientParameters(endpoint);
  const own = isRefresh ? refreshFields(endpoint, grant) : codeFields(endpoint, grant);
  const taken = [...credentials, ...own].map(([name]) => name);
  const fields = [...own, ...tokenParams.filter(([name]) => !taken.includes(name))];
  if (form === 'query' && !isRefresh) {
    return { method: 'POST', url: withParameters(tokenUrl, [...credentials, ...fields]), headers };
  }
  const url = isRefresh ? refreshUrl : tokenUrl;
  const typed: ExtraParameters = [['grant_type', isRefresh ? 'refresh_token' : 'authorization_code'], ...fields];
  return form === 'json'
    ? jsonRequest(endpoint, url, [...credentials, ...typed])
    : authenticatedForm(endpoint, url, typed);
}

function codeFields({ callbackUri }: RegisteredProvider, { code, codeVerifier }: CodeGrant): ExtraParameters {
  return [['code', code], ['redirect_uri', callbackUri], ...optional('code_verifier', codeVerifier)];
}

function refreshFields({ scopeSeparator }: RegisteredProvider, { refreshToken, scope }: RefreshGrant): ExtraParameters {
  return [['refresh_token', refreshToken], ...optional('scope', scopeInRequest(scope, scopeSeparator))];
}
