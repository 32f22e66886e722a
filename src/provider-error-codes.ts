/**
 * Error codes that providers send. Logs and metrics name a code only if it is on this list, so that
 * neither ever holds free text.
 *
 * @see RFC 6749 §4.1.2.1 and §5.2, OpenID Connect Core 1.0 §3.1.2.6, RFC 8707, RFC 9101, RFC 9449
 */
export const providerErrorCodes = [
  'access_denied',
  'account_selection_required',
  'consent_required',
  'interaction_required',
  'invalid_client',
  'invalid_dpop_proof',
  'invalid_grant',
  'invalid_request',
  'invalid_request_object',
  'invalid_request_uri',
  'invalid_scope',
  'invalid_target',
  'login_required',
  'registration_not_supported',
  'request_not_supported',
  'request_uri_not_supported',
  'server_error',
  'temporarily_unavailable',
  'unauthorized_client',
  'unmet_authentication_requirements',
  'unsupported_grant_type',
  'unsupported_response_type',
  'use_dpop_nonce',
  // GitHub
  'application_suspended',
  'bad_refresh_token',
  'bad_verification_code',
  'incorrect_client_credentials',
  'redirect_uri_mismatch',
  'unverified_user_email',
  // Google
  'admin_policy_enforced',
  'deleted_client',
  'disabled_client',
  'org_internal',
  // LinkedIn
  'invalid_redirect_uri',
  'unauthorized_scope_error',
  'user_cancelled_authorize',
  'user_cancelled_login',
  // Slack
  'bad_client_secret',
  'bad_redirect_uri',
  'code_already_used',
  'fatal_error',
  'internal_error',
  'invalid_client_id',
  'invalid_code',
  'invalid_grant_type',
  'invalid_refresh_token',
  'ratelimited',
  'request_timeout',
  'service_unavailable',
] as const;

/** A code of the list, or `other`. */
export type ProviderErrorCode = (typeof providerErrorCodes)[number] | 'other';

const known: ReadonlySet<string> = new Set(providerErrorCodes);

/** Narrows the `error` field of a provider's answer. An object or an empty text is no code. */
export function providerErrorCode(error: unknown): ProviderErrorCode | undefined {
  if (typeof error !== 'string' || error === '') return undefined;
  return isKnown(error) ? error : 'other';
}

function isKnown(error: string): error is ProviderErrorCode {
  return known.has(error);
}
