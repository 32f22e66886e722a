import type { Failures } from './failure.ts';

/** Failures of a user lookup before the provider is called, and tokens that it refuses. */
export const userFailures = {
  provider_unknown: {
    status: 400,
    detail: 'The parameter provider does not name a provider of this relay.',
  },
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
  credentials_repeated: {
    status: 400,
    detail: 'The Authorization header was sent more than once: send exactly one.',
  },
} as const satisfies Failures;
