import { each, type Failures } from './failure.ts';

const unauthorized = { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } };
const tokenInvalid = {
  status: 401,
  headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
};
const badGateway = { status: 502 };

/**
 * Failures of a user lookup before the provider is called, and lookups that the provider refuses. The status
 * of a `lookup_…` failure is that of a lookup by session: the contract has 401 for it.
 */
export const userFailures = {
  provider_unknown: 'The parameter provider does not name a provider of this relay.',
  ...each(unauthorized, {
    credentials_missing:
      'No credentials supplied: send the access token in the Authorization header.',
    credentials_malformed:
      'The Authorization header has no token: send it as "Bearer", a space, and the token.',
  }),
  ...each(tokenInvalid, {
    token_malformed:
      'The access token contains characters that are not allowed in a token. Log in again.',
    token_invalid: 'The access token is invalid: the provider did not accept it. Log in again.',
  }),
  ...each(badGateway, {
    lookup_forbidden:
      'The provider does not let this token read the user record, or limits such requests (403). It does not say that the token is invalid.',
    lookup_failed:
      'The provider failed to answer with the user record. The token may still be valid: try again in a moment.',
  }),
  lookup_postponed: {
    status: 503,
    detail:
      'The provider answers no more user lookups at the moment. The token may still be valid: try again later.',
    headers: { 'Retry-After': '10' },
  },
  credentials_repeated: 'The Authorization header was sent more than once: send exactly one.',
} as const satisfies Failures;
