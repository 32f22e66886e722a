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

export interface CodeGrant {
  readonly code: string;
  /** Undefined if the authorization request had no challenge. @see RFC 7636 §4.5 */
  readonly codeVerifier: string | undefined;
}

export interface RefreshGrant {
  readonly refreshToken: string;
  /** A part of the granted scope (default: all of it). */
  readonly scope?: string | undefined;
}

/**
 * Builds the token request in the form that the provider accepts. With `query`, the request for a code has the secret
 * in its URL, as the contract says; a request for a refresh never has.
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
