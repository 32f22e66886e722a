/**
 * The parameters that the relay sends to each endpoint, in the query or in another part of the request. The access token
 * is never in a query, but RFC 6750 §2.3 has a parameter for it.
 */
export const ownParameters = {
  authorizeUrl: [
    'response_type',
    'client_id',
    'redirect_uri',
    'scope',
    'state',
    'nonce',
    'code_challenge',
    'code_challenge_method',
  ],
  tokenUrl: ['grant_type', 'client_id', 'client_secret', 'redirect_uri', 'code', 'code_verifier'],
  refreshUrl: ['grant_type', 'client_id', 'client_secret', 'refresh_token', 'scope'],
  userUrl: ['access_token'],
  revocationUrl: ['token', 'token_type_hint', 'client_id', 'client_secret'],
  logoutUrl: ['client_id'],
} as const;

/** Parameters that would change the meaning of the relay's own. @see RFC 9101 §5, RFC 7521 §4.2 */
const otherParameters = [
  'response_mode',
  'request',
  'request_uri',
  'client_assertion',
  'client_assertion_type',
] as const;

/** The parameters of each endpoint that its URL in metadata must not set. */
export const protocolParameters = {
  ...ownParameters,
  authorizeUrl: [...ownParameters.authorizeUrl, ...otherParameters],
  tokenUrl: [...ownParameters.tokenUrl, ...otherParameters],
  revocationUrl: [...ownParameters.revocationUrl, ...otherParameters],
} as const;
