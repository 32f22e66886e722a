import { RelayError } from '../failures/relay-error.ts';
import { failureForCode, unknownTokenStatuses } from '../providers/error-codes.ts';
import type { RevocationRequest, TokenKind } from '../providers/provider.ts';
import { isCredential } from './authorization-header.ts';
import {
  basicCredentials,
  buildAuthenticatedForm,
  buildFormRequest,
  type ProviderRequest,
  type RegisteredProvider,
} from './client-authentication.ts';
import { parseJsonObject } from './json.ts';
import { findErrorCode } from './token-response-format.ts';

/** The tokens of one login, as far as they are known. */
export interface RevocableTokens {
  readonly refreshToken?: string | undefined;
  readonly accessToken?: string | undefined;
}

/**
 * Splits the tokens for two revocations, because some providers keep the access token valid when its refresh token is
 * revoked.
 *
 * @see RFC 7009 §2.1
 */
export function splitTokens({ refreshToken, accessToken }: RevocableTokens): RevocableTokens[] {
  return [{ refreshToken }, { accessToken }];
}

/** The dialects in which the relay authenticates. There, a 401 refuses the relay and not the token. */
const authenticatedDialects: ReadonlySet<RevocationRequest> = new Set(['rfc7009', 'github']);

/**
 * Builds the request to revoke the tokens of a login. It revokes the refresh token, which should end the access token
 * as well, or the access token if there is no refresh token.
 *
 * @returns undefined if the provider revokes neither
 * @see RFC 7009 §2.1
 */
export function buildRevocationRequest(
  provider: RegisteredProvider,
  tokens: RevocableTokens,
): ProviderRequest | undefined {
  const { revocation } = provider;
  if (revocation === undefined) return undefined;
  const { url, request, takes } = revocation;
  const build = buildersByDialect[request];
  const refreshToken = takes === 'access_token' ? undefined : tokens.refreshToken;
  const accessToken = takes === 'refresh_token' ? undefined : tokens.accessToken;
  if (refreshToken !== undefined) return build(provider, url, refreshToken, 'refresh_token');
  if (accessToken !== undefined) return build(provider, url, accessToken, 'access_token');
  return undefined;
}

/** Builds the request in one dialect. @returns undefined if the provider cannot have given the token */
type BuildRevocation = (
  provider: RegisteredProvider,
  url: string,
  token: string,
  kind: TokenKind,
) => ProviderRequest | undefined;

const buildersByDialect: Readonly<Record<RevocationRequest, BuildRevocation>> = {
  rfc7009: (provider, url, token, kind) =>
    buildAuthenticatedForm(provider, url, [
      ['token', token],
      ['token_type_hint', kind],
    ]),
  'public-client': (provider, url, token) =>
    buildFormRequest(provider, url, [
      ['client_id', provider.clientId],
      ['token', token],
    ]),
  'token-only': (provider, url, token) => buildFormRequest(provider, url, [['token', token]]),
  bearer({ requestHeaders }, url, token) {
    // A text that no header can carry cannot be a token of the provider.
    if (!isCredential(token)) return undefined;
    const headers = { ...requestHeaders, authorization: `Bearer ${token}` };
    return { method: 'POST', url, headers };
  },
  github(provider, url, token) {
    const headers = {
      ...provider.requestHeaders,
      authorization: basicCredentials(provider),
      'content-type': 'application/json',
    };
    return { method: 'DELETE', url, headers, body: JSON.stringify({ access_token: token }) };
  },
};

/**
 * Reads the answer to a revocation.
 *
 * @throws {RelayError} `token_invalid` if the provider does not know the token, `client_refused`, or
 *   `provider_answer_unusable` if the token may still be valid
 * @see RFC 7009 §2.2
 */
export function parseRevocationResponse(
  { status, body }: { readonly status: number; readonly body: Uint8Array },
  request: RevocationRequest,
): void {
  const providerError = findErrorCode(parseJsonObject(body) ?? {});
  const isUnauthorized = status === 401;
  const refusesRelay =
    failureForCode(providerError) === 'client_refused' || (isUnauthorized && authenticatedDialects.has(request));
  if (refusesRelay) {
    const detail =
      'The token was not revoked: the provider refused the client identifier or secret of this relay. Only its operator can fix this.';
    throw new RelayError('client_refused', { detail, providerError });
  }
  if (status >= 200 && status < 300) return;
  if (isUnauthorized || unknownTokenStatuses.has(status)) throw new RelayError('token_invalid');
  const detail = 'The provider did not revoke the token. Try again in a moment.';
  throw new RelayError('provider_answer_unusable', { detail, providerError });
}
