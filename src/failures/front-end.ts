import { type Failures, withSameAnswer } from './failure.ts';

/** Failures of front ends and their clients: of OAuth requests, tokens, proofs and registrations. */
export const frontEndFailures = {
  ...withSameAnswer('unauthorized_client', {
    client_unknown: 'The client_id is missing or given more than once, or no front end of this relay has it.',
    client_unauthorized:
      'This front end does not log in with OAuth requests. If it has sessions, set mode: "session" in the browser client.',
    oauth_off: 'This relay does not take OAuth logins, because its state check is off.',
  }),
  front_end_gone: 'The front end or the provider of this login is no longer configured here. Start the login again.',
  page_unknown: 'The page that started this login is not at the address of any front end of this relay.',
  redirect_uri_unknown: 'The redirect_uri is missing, given more than once, or not configured for this front end.',
  request_invalid: 'The authorization request is not valid. The error_description at the redirect URI says why.',
  cms_backend_wrong: 'The parameter provider does not name the backend of a CMS that logs in here.',
  ...withSameAnswer('unsupported_response_type', {
    response_type_unsupported: 'The response_type must be code.',
  }),
  ...withSameAnswer('invalid_scope', {
    scope_refused: 'The scope goes beyond the one that is configured for this front end.',
    consent_exceeded:
      'The provider grants more than the person has agreed to here, perhaps because it granted more to another program before. The person can remove that grant at the provider, and log in again.',
  }),
  pkce_required: 'This front end must log in with an OAuth request: response_type=code and a code_challenge.',
  token_request_invalid:
    'The body must be a form or a JSON object in UTF-8. Each parameter must be text, and given only once.',
  content_type_unsupported: {
    status: 415,
    detail:
      'The Content-Type must be application/x-www-form-urlencoded or application/json, without a Content-Encoding.',
  },
  body_too_large: { status: 413, detail: 'The body is larger than 16 KiB.' },
  ...withSameAnswer('invalid_client', {
    client_id_wrong: 'The client_id is missing, or no front end of this relay has it.',
  }),
  ...withSameAnswer(
    { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="token"' }, oauthError: 'invalid_client' },
    {
      machine_secret_wrong:
        "The machine's name, its secret or the signature of its assertion is wrong, or it sent its credentials in several ways.",
      machine_assertion_invalid: "The assertion is signed with this machine's key, but what it says is not valid.",
    },
  ),
  client_expired: {
    status: 401,
    headers: { 'WWW-Authenticate': 'Bearer' },
    detail: 'The client_id has expired. Register the client again, or make a new client_id.',
    oauthError: 'invalid_client',
  },
  client_document_unreachable: {
    status: 502,
    detail:
      'The metadata document of this client cannot be fetched. It must answer within 3 seconds, without a redirect, at a public address.',
  },
  client_document_invalid:
    'The metadata document of this client cannot be used. It must be JSON of at most 5 KiB, with status 200, the same client_id, and redirect_uris that native clients may have.',
  ...withSameAnswer('invalid_client_metadata', {
    client_metadata_invalid: 'The client metadata must be a JSON object that is not too long.',
  }),
  ...withSameAnswer('invalid_redirect_uri', {
    redirect_uris_invalid:
      'The redirect_uris must be a list of 1 to 20 addresses. At least one must be at https, at http on 127.0.0.1, [::1] or localhost, or at an app scheme: one with a dot such as com.example.app:/callback, one of a known editor, or one of clients.schemes.',
  }),
  ...withSameAnswer('invalid_target', {
    resource_refused:
      'The resource must be one that this client may use, written as in its metadata: a URL without a fragment, given once. In a token request, it must be the one of the login.',
  }),
  ...withSameAnswer('access_denied', {
    consent_denied: 'The login was cancelled before the provider was asked. Start it again.',
  }),
  origin_foreign: {
    status: 403,
    detail:
      'The request comes from a page that is not at the origin of the front end. For an app or browser extension, add its origin to origins of the native front end.',
  },
  ...withSameAnswer('unsupported_grant_type', {
    grant_unsupported: 'This relay does not support the grant_type.',
  }),
  ...withSameAnswer('invalid_grant', {
    grant_invalid: 'The code or refresh token is altered, expired, or was issued to another front end. Log in again.',
    code_expired:
      'The code has expired: it is valid for one minute, or for five minutes in a native program. Log in again.',
    code_redeemed: 'The code was already redeemed. Log in again.',
    verifier_wrong: 'The code_verifier does not match the code_challenge of this login.',
    key_mismatch: 'The refresh token is bound to a key that did not sign the DPoP proof. Log in again.',
    refresh_reused:
      'The refresh token was replaced more than a minute ago. Somebody may have a copy, so the login has ended. Log in again.',
    refresh_refused: 'The provider does not renew this login. Log in again.',
  }),
  ...withSameAnswer('invalid_dpop_proof', {
    proof_missing: 'The refresh token is bound to a key. Send a DPoP proof of that key.',
    proof_invalid: 'The DPoP proof is not valid. It must be new, made for this address, and at most a minute old.',
  }),
  ...withSameAnswer('use_dpop_nonce', {
    nonce_required: 'The DPoP proof must contain the nonce of the header DPoP-Nonce. Send another proof with it.',
  }),
} as const satisfies Failures;
