import { RelayError } from '../errors.ts';
import { parseQuery, type Query } from './query.ts';

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
export function parseAuthorizationResponse(queryString: string): AuthorizationResponse {
  const query = parseQuery(queryString);
  const error = single(query['error']);
  const code = single(query['code']);
  if (error !== undefined) throw authorizationRefused(error);
  if (code === undefined || code === '') throw new RelayError('code_missing');
  if (code.length > longestCode) throw new RelayError('code_too_long');
  if (!code.isWellFormed()) throw new RelayError('code_malformed');
  return { code };
}

/** @see RFC 6749 §3.1: parameters must not be included more than once */
function single(value: Query[string]): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw new RelayError('parameter_repeated');
}

function authorizationRefused(error: string): RelayError {
  if (!errorCodes.has(error)) return new RelayError('authorization_refused');
  return new RelayError('authorization_refused', {
    detail: `The provider did not authorize the login (${error}). Start the login again.`,
  });
}
