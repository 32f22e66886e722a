import type { ExtraParameters } from '../providers/provider.ts';
import {
  buildAuthenticatedForm,
  buildJsonRequest,
  clientParameters,
  isBasic,
  type ProviderRequest,
  type RegisteredProvider,
} from './client-authentication.ts';
import { optionalParameter, withParameters } from './query.ts';
import { scopeInRequest } from './scope.ts';

/** An authorization code of the provider. */
export interface CodeGrant {
  readonly code: string;
  /** Undefined if the authorization request had no challenge. @see RFC 7636 §4.5 */
  readonly codeVerifier: string | undefined;
}

/** A refresh token of the provider. */
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
export function buildTokenRequest(provider: RegisteredProvider, grant: CodeGrant | RefreshGrant): ProviderRequest {
  const { tokenUrl, refreshUrl = tokenUrl, tokenParams = [], requestHeaders: headers = {} } = provider;
  const isRefresh = 'refreshToken' in grant;
  const form = provider.tokenRequest;
  const credentials = isBasic(form) ? [] : clientParameters(provider);
  const grantFields = isRefresh ? refreshFields(provider, grant) : codeFields(provider, grant);
  // Configured parameters do not replace the relay's own.
  const ownNames = [...credentials, ...grantFields].map(([name]) => name);
  const fields = [...grantFields, ...tokenParams.filter(([name]) => !ownNames.includes(name))];
  if (form === 'query' && !isRefresh) {
    return { method: 'POST', url: withParameters(tokenUrl, [...credentials, ...fields]), headers };
  }
  const url = isRefresh ? refreshUrl : tokenUrl;
  const grantType = isRefresh ? 'refresh_token' : 'authorization_code';
  const allFields: ExtraParameters = [['grant_type', grantType], ...fields];
  return form === 'json'
    ? buildJsonRequest(provider, url, [...credentials, ...allFields])
    : buildAuthenticatedForm(provider, url, allFields);
}

function codeFields({ callbackUri }: RegisteredProvider, { code, codeVerifier }: CodeGrant): ExtraParameters {
  return [['code', code], ['redirect_uri', callbackUri], ...optionalParameter('code_verifier', codeVerifier)];
}

function refreshFields({ scopeSeparator }: RegisteredProvider, { refreshToken, scope }: RefreshGrant): ExtraParameters {
  return [['refresh_token', refreshToken], ...optionalParameter('scope', scopeInRequest(scope, scopeSeparator))];
}
