import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import { failureForCode, readProviderErrorCode } from '../providers/error-codes.ts';
import type { Provider } from '../providers/provider.ts';
import { type Query, readSingle } from './query.ts';

/**
 * Reads the authorization code from the query of a callback.
 *
 * @param expected the provider's issuer if it is known, and whether `iss` is required
 * @throws {RelayError} if the response repeats a parameter, comes from another issuer, reports an error, or has no
 *   usable code
 * @see RFC 6749 §4.1.2, RFC 9207 §2.4
 */
export function requireCode(query: Query, expected: Pick<Provider, 'issuer' | 'issRequired'>): string {
  const code = readSingle(query['code']);
  const error = readSingle(query['error']);
  const iss = readSingle(query['iss']);
  if (iss === undefined && expected.issRequired) throw new RelayError('issuer_missing');
  if (iss !== undefined && expected.issuer !== undefined && iss !== expected.issuer) {
    throw new RelayError('issuer_mismatch');
  }
  if (error !== undefined) throw explainError(error);
  if (code === undefined || code === '') throw whyNoLogin(query) ?? new RelayError('code_missing');
  if (code.length > limits.codeLength) throw new RelayError('code_too_long');
  if (!code.isWellFormed()) throw new RelayError('code_malformed');
  return code;
}

/**
 * Finds out why a callback without a code or state is not a login: a proxy removed its query, or GitHub sent the person
 * here after the installation of its App.
 *
 * @returns the failure that says so; undefined if the query shows neither
 * @see https://docs.github.com/en/apps/creating-github-apps/registering-a-github-app/about-the-setup-url
 */
export function whyNoLogin(query: Query): RelayError | undefined {
  if (Object.keys(query).length === 0) return new RelayError('query_missing');
  switch (query['setup_action']) {
    case 'install':
    case 'update':
      return new RelayError('app_installed');
    case 'request':
      return new RelayError('app_requested');
    default:
      return undefined;
  }
}

/** Returns the failure for an error code of a callback. @see RFC 6749 §4.1.2.1 */
function explainError(error: string): RelayError {
  const providerError = readProviderErrorCode(error);
  const meaning = failureForCode(providerError);
  if (meaning === 'access_denied') return new RelayError(meaning, { providerError });
  if (meaning === 'redirect_uri_refused') {
    const detail = `The provider refused the callback URL of this relay (${providerError}). Only its operator can fix this.`;
    return new RelayError(meaning, { detail, providerError });
  }
  // `other` stands for a code that is not shown, because it is unknown.
  if (providerError === undefined || providerError === 'other') {
    return new RelayError('authorization_refused', { providerError });
  }
  const detail = `The provider did not authorize the login (${providerError}). Start the login again.`;
  return new RelayError('authorization_refused', { detail, providerError });
}
