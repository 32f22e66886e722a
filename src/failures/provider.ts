import { type Failures, temporaryFailure, withSameAnswer } from './failure.ts';

/** Failures of the provider, and of the calls to it. */
export const providerFailures = {
  ...withSameAnswer('invalid_grant', {
    code_refused: 'Token retrieval failed: the provider refused the authorization code. Start the login again.',
    token_refused: 'Token retrieval failed: the provider refused the token request. Start the login again.',
  }),
  ...withSameAnswer('server_error', {
    client_refused:
      'Token retrieval failed: the provider refused the client identifier or secret of this relay. Only its operator can fix this.',
    redirect_uri_refused:
      'Token retrieval failed: the provider refused the callback URL of this relay. Only its operator can fix this.',
    token_missing: "The access token is empty: the provider's response has no usable token. Start the login again.",
  }),
  ...withSameAnswer('temporarily_unavailable', {
    token_endpoint_failed:
      'Token retrieval failed: the provider reports an internal problem. Start the login again in a moment.',
  }),
  provider_unreachable: temporaryFailure(502, 'The provider could not be reached.'),
  provider_answer_unusable: temporaryFailure(502, 'The provider sent a response that the relay cannot use.'),
  provider_timeout: temporaryFailure(504, 'The provider took too long to answer.'),
  user_record_signed: {
    status: 502,
    detail:
      'The provider signs or encrypts its user records, but this relay reads only plain JSON. Only the operators can fix this.',
    oauthError: 'server_error',
  },
  provider_undiscovered: {
    status: 503,
    detail: "The relay does not know the provider's endpoints yet. Try again in a few seconds.",
    headers: { 'Retry-After': '5' },
  },
  provider_unsupported: {
    status: 503,
    detail: 'The provider requires something that this relay does not support. Only the operators can fix this.',
    headers: { 'Retry-After': '60' },
    oauthError: 'server_error',
  },
} as const satisfies Failures;
