import type { Failures } from './failure.ts';

/**
 * Failures of a user lookup before the provider is called, and lookups that the provider refuses. The status
 * of a `lookup_…` failure is that of a lookup by session: the contract has 401 for it.
 */
export const userFailures = {
  provider_unknown: 'The parameter provider does not name a provider of this relay.',
  credentials_missing: {
    status: 401,
    detail: 'No credentials supplied: send the access token in the Authorization header.',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  credentials_malformed: {
    status: 401,
    detail: 'The Authorization header has no token: send it as "Bearer", a space, and the token.',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  token_malformed: {
    status: 401,
    detail: 'The access token contains characters that are not allowed in a token. Log in again.',
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  },
  token_invalid: {
    status: 401,
    detail: 'The access token is invalid: the provider did not accept it. Log in again.',
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  },
  lookup_forbidden: {
    status: 502,
    detail:
      'The provider does not let this token read the user record, or limits such requests (403). It does not say that the token is invalid.',
  },
  lookup_postponed: {
    status: 503,
    detail:
      'The provider answers no more user lookups at the moment. The token may still be valid: try again later.',
    headers: { 'Retry-After': '10' },
  },
  lookup_failed: {
    status: 502,
    detail:
      'The provider failed to answer with the user record. The token may still be valid: try again in a moment.',
  },
  credentials_repeated: 'The Authorization header was sent more than once: send exactly one.',
} as const satisfies Failures;
