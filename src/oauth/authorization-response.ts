import { RelayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Provider } from '../providers/provider.ts';
import { parseQuery, type Query, single } from './query.ts';

/** @see RFC 6749 §4.1.2.1 */
const errorCodes: ReadonlySet<string> = new Set([
  'invalid_request',
  'unauthorized_client',
  'unsupported_response_type',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
]);

/** The parameters with which the provider sends the browser back. */
export interface AuthorizationResponse {
  readonly code: Query[string];
  readonly error: Query[string];
  readonly state: string | undefined;
  readonly iss: Query[string];
}

/**
 * Reads the query of the callback, as far as that tells which login it ends.
 *
 * @throws {RelayError} `parameter_repeated`, where the state is
 * @see RFC 6749 §4.1.2
 */
export function parseAuthorizationResponse(queryString: string): AuthorizationResponse {
  const query = parseQuery(queryString);
  return {
    code: query['code'],
    error: query['error'],
    state: single(query['state']),
    iss: query['iss'],
  };
}

/**
 * Takes the authorization code out of the response.
 *
 * @param expected the provider's issuer, where it is known, and whether `iss` has to be there
 * @throws {RelayError} where the response repeats a parameter, comes from another issuer, holds an
 *   error, no code, or a code that cannot be passed on exactly
 * @see RFC 9207 §2.4 for the issuer
 */
export function authorizationCode(
  response: AuthorizationResponse,
  expected: Pick<Provider, 'issuer' | 'issRequired'>,
): string {
  const [code, error, iss] = [response.code, response.error, response.iss].map(single);
  if (iss === undefined && expected.issRequired) throw new RelayError('issuer_missing');
  if (iss !== undefined && expected.issuer !== undefined && iss !== expected.issuer) {
    throw new RelayError('issuer_mismatch');
  }
  if (error !== undefined) throw authorizationRefused(error);
  if (code === undefined || code === '') throw new RelayError('code_missing');
  if (code.length > limits.codeLength) throw new RelayError('code_too_long');
  if (!code.isWellFormed()) throw new RelayError('code_malformed');
  return code;
}

function authorizationRefused(error: string): RelayError {
  if (error === 'access_denied') return new RelayError('access_denied');
  if (!errorCodes.has(error)) return new RelayError('authorization_refused');
  return new RelayError('authorization_refused', {
    detail: `The provider did not authorize the login (${error}). Start the login again.`,
  });
}
