import { each, type Failures } from './failure.ts';

/** The challenge of the resource takes the place of the header. */
const unauthorized = {
  status: 401,
  headers: { 'WWW-Authenticate': 'Bearer' },
  oauthError: 'invalid_token',
} as const;

/** Failures of tokens for resources, and of those who show or check them. */
export const resourceFailures = {
  ...each(unauthorized, {
    resource_token_missing: 'Send an access token for this resource in the Authorization header.',
    resource_token_invalid:
      'The access token is not for this resource, or its login has ended. Log in again.',
    resource_token_expired: 'The access token has expired. Refresh it.',
  }),
  resource_token_misplaced:
    'Send one access token, in one Authorization header, as "Bearer", a space, and the token. A query must not have it.',
  resource_secret_wrong: {
    status: 401,
    headers: { 'WWW-Authenticate': 'Basic realm="introspection"' },
    detail: 'The name of the resource or its secret is wrong.',
    oauthError: 'invalid_client',
  },
  ...each('access_denied', {
    identity_too_long:
      'What the resource is to learn of this person does not fit into a token: there are too many groups. Only the operator can fix this.',
  }),
  identity_unknown: {
    status: 503,
    detail: 'The provider did not say who the person is. Nothing is lost: try again in a moment.',
    detailOnceSpent:
      'The provider did not say who the person is. Start the login again in a moment.',
    headers: { 'Retry-After': '5' },
  },
} as const satisfies Failures;
