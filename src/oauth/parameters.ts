/** The parameters that the relay itself puts into the query of an endpoint, by endpoint. */
export const ownParameters = {
  authorizeUrl: [
    'response_type',
    'client_id',
    'redirect_uri',
    'scope',
    'state',
    'code_challenge',
    'code_challenge_method',
  ],
  tokenUrl: ['grant_type', 'client_id', 'client_secret', 'redirect_uri', 'code', 'code_verifier'],
  userUrl: ['access_token'],
} as const;

/** Parameters that would change what the relay's own mean. @see RFC 9101 §5, RFC 7521 §4.2 */
const otherParameters = [
  'response_mode',
  'request',
  'request_uri',
  'client_assertion',
  'client_assertion_type',
] as const;

/** Parameters of the protocol, by endpoint: metadata has no business to set any of them. */
export const protocolParameters = {
  authorizeUrl: [...ownParameters.authorizeUrl, ...otherParameters],
  tokenUrl: [...ownParameters.tokenUrl, ...otherParameters],
  userUrl: ownParameters.userUrl,
} as const;
