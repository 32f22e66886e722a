import { type Failures, withSameAnswer } from './failure.ts';

const forbidden = { status: 403 };
const badGateway = { status: 502 };
const unauthorized = { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } };
const tokenInvalid = {
  status: 401,
  headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
};

/**
 * Failures of logged-in people: of sessions, of requests that a session's cookie authorizes, and of user lookups. The
 * status of a `lookup_…` failure is for lookups by session, because the contract prescribes 401 for the others.
 */
export const userFailures = {
  ...withSameAnswer(unauthorized, {
    session_missing: 'There is no session, or it is over. Log in.',
    credentials_missing: 'No credentials supplied: send the access token in the Authorization header.',
    credentials_malformed: 'The Authorization header has no token: send it as "Bearer", a space, and the token.',
  }),
  ...withSameAnswer(tokenInvalid, {
    session_token_expired: 'The access token of the session has expired. Refresh the session.',
    session_refused: 'The provider does not renew this session. Log in again.',
    token_malformed: 'The access token contains characters that are not allowed in a token. Log in again.',
    token_invalid: 'The access token is invalid: the provider did not accept it. Log in again.',
  }),
  token_of_relay: {
    ...tokenInvalid,
    detail:
      'This is a token of the relay, not of the provider. For a resource, the answer that gave the token says who the person is: read identity there.',
  },
  ...withSameAnswer(badGateway, {
    lookup_forbidden:
      'The provider does not let this token read the user record, or limits such requests (403). It does not say that the token is invalid.',
    lookup_failed:
      'The provider failed to answer with the user record. The token may still be valid: try again in a moment.',
  }),
  lookup_postponed: {
    status: 503,
    detail: 'The provider answers no more user lookups at the moment. The token may still be valid: try again later.',
    headers: { 'Retry-After': '10' },
  },
  user_endpoint_missing: {
    status: 404,
    detail:
      'This provider has no user endpoint, so nothing can be looked up. What is known of the person is in the ID token, which the relay keeps to itself.',
  },
  credentials_repeated: 'The Authorization header was sent more than once: send exactly one.',
  provider_unknown: 'The parameter provider does not name a provider of this relay.',
  return_to_invalid:
    'The return_to must be a page inside the origin of the front end: its URL or its absolute path, of at most 2048 characters, given once.',
  session_too_large: {
    status: 502,
    detail: "The provider's tokens are too long for the cookies of a session. Only the operators can fix this.",
    oauthError: 'server_error',
  },
  ...withSameAnswer(forbidden, {
    request_header_missing: 'The header X-Login-Relay: 1 is missing. A request with a session must have it.',
    cross_site_refused: 'The request comes from a page of another site (Sec-Fetch-Site: cross-site).',
    host_foreign: "The Host of the request is not the host of the relay's public address. Does a proxy change it?",
    api_of_other_provider: 'The user is not logged in at the provider that this API belongs to.',
  }),
  path_refused:
    'The path has an empty segment, a segment of dots, or a slash, backslash or percent sign in encoded form. Or the path or the query has characters that must be encoded.',
  upload_too_large: { status: 413, detail: 'The body is larger than 64 MiB.' },
} as const satisfies Failures;
