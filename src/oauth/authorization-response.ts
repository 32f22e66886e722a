import { RelayError } from '../errors.ts';

const longestCode = 4096;

/** @see RFC 6749 §4.1.2.1 */
const errorCodes: ReadonlySet<string> = new Set([
  'invalid_request',
  'unauthorized_client',
  'access_denied',
  'unsupported_response_type',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
]);

/** What the provider sends the browser back with. */
export interface AuthorizationResponse {
  readonly code: string;
}

/**
 * Reads the query of the callback.
 *
 * @throws {RelayError} where it holds an error, no code, or a code that cannot be passed on exactly
 * @see RFC 6749 §4.1.2
 */
export function parseAuthorizationResponse(query: string): AuthorizationResponse {
  const parameters = new URLSearchParams(query);
  for (const name of ['code', 'error']) {
    // RFC 6749 §3.1: parameters must not be included more than once.
    if (parameters.getAll(name).length > 1) throw new RelayError('parameter_repeated');
  }
  const error = parameters.get('error');
  if (error !== null) throw authorizationRefused(error);
  const code = parameters.get('code');
  if (code === null || code === '') throw new RelayError('code_missing');
  // U+FFFD stands where the bytes were not UTF-8: the code that was sent cannot be told any more.
  if (code.length > longestCode || code.includes('\u{FFFD}')) {
    throw new RelayError('code_malformed');
  }
  return { code };
}

function authorizationRefused(error: string): RelayError {
  if (!errorCodes.has(error)) return new RelayError('authorization_refused');
  return new RelayError('authorization_refused', {
    detail: `The provider did not authorize the login (${error}). Start the login again.`,
  });
}
