/**
 * The known error codes of providers, each with the failure that it means, or `null` for a plain refusal. Logs and
 * metrics name only codes of this table, so that they never contain free text.
 *
 * @see RFC 6749 §4.1.2.1 and §5.2, OpenID Connect Core 1.0 §3.1.2.6, RFC 8707, RFC 9101, RFC 9449
 */
const failuresByCode = {
  access_denied: 'access_denied',
  account_selection_required: null,
  consent_required: 'access_denied',
  interaction_required: null,
  invalid_client: 'client_refused',
  invalid_dpop_proof: null,
  invalid_grant: 'code_refused',
  invalid_request: null,
  invalid_request_object: null,
  invalid_request_uri: null,
  invalid_scope: null,
  invalid_target: null,
  login_required: null,
  registration_not_supported: null,
  request_not_supported: null,
  request_uri_not_supported: null,
  server_error: 'token_endpoint_failed',
  temporarily_unavailable: 'token_endpoint_failed',
  unauthorized_client: 'client_refused',
  unmet_authentication_requirements: null,
  unsupported_grant_type: null,
  unsupported_response_type: null,
  use_dpop_nonce: null,
  // GitHub
  application_suspended: null,
  bad_refresh_token: 'code_refused',
  bad_verification_code: 'code_refused',
  incorrect_client_credentials: 'client_refused',
  redirect_uri_mismatch: 'redirect_uri_refused',
  unverified_user_email: null,
  // Google
  admin_policy_enforced: null,
  deleted_client: 'client_refused',
  disabled_client: 'client_refused',
  org_internal: null,
  // LinkedIn
  invalid_redirect_uri: 'redirect_uri_refused',
  unauthorized_scope_error: null,
  user_cancelled_authorize: 'access_denied',
  user_cancelled_login: 'access_denied',
  // Slack
  bad_client_secret: 'client_refused',
  bad_redirect_uri: 'redirect_uri_refused',
  code_already_used: 'code_refused',
  fatal_error: 'token_endpoint_failed',
  internal_error: 'token_endpoint_failed',
  invalid_client_id: 'client_refused',
  invalid_code: 'code_refused',
  invalid_grant_type: null,
  invalid_refresh_token: 'code_refused',
  ratelimited: 'token_endpoint_failed',
  request_timeout: 'token_endpoint_failed',
  service_unavailable: 'token_endpoint_failed',
} as const;

/**
 * The credential that an error code or an error text refuses, if that is known (`invalid_client` does not tell it).
 * Texts are compared as a whole, because longer texts name several causes.
 */
export const refusedCredentials: Readonly<Record<string, 'identifier' | 'secret' | 'client'>> = {
  unauthorized_client: 'client',
  // Slack
  bad_client_secret: 'secret',
  invalid_client_id: 'identifier',
  // Google
  deleted_client: 'identifier',
  disabled_client: 'identifier',
  'The OAuth client was not found.': 'identifier',
  // Gitea, Twitch
  'invalid client secret': 'secret',
  'invalid client': 'identifier',
};

/** Twitch sends no codes, only these messages. */
export const failuresByMessage: ReadonlyMap<unknown, 'client_refused' | 'code_refused'> = new Map([
  ['Invalid authorization code', 'code_refused'],
  ['invalid client', 'client_refused'],
  ['invalid client secret', 'client_refused'],
]);

/** Gitea and Forgejo answer `unauthorized_client` to a wrong code or refresh token, with these descriptions. */
export const wrongGrantDescriptions: ReadonlySet<string> = new Set([
  'client is not authorized',
  'unable to parse refresh token',
  'token was already used',
]);

/**
 * Words that ask to try again, for example at a rate limit. Withings, WeChat, Salesforce, gateways and AWS use them in
 * answers that otherwise look like refusals, with status 200, 400 or 401.
 */
export const temporaryWords =
  /too[ _-]?many[ _-]?requests|rate[ _-]?(?:limit|exceed)|throttl|slow[ _-]?down|temporar|unavailable|overload|(?:internal|system|server)[ _-]?(?:server[ _-]?)?error|system busy|^(?:(?:connection|gateway|request|upstream) ){0,2}time[ _-]?out\b|(?:try|retry)(?: it| your request)? (?:again )?(?:later|in a)|retry your request/i;

/** The statuses that refuse a refresh token, with any reason in the answer. @see RFC 6749 §5.2 */
export const refusalStatuses: ReadonlySet<number> = new Set([400, 401]);

/** The statuses that say that a token to revoke is unknown: 400 at Google, 404 and 422 at GitHub. */
export const unknownTokenStatuses: ReadonlySet<number> = new Set([400, 404, 422]);

export type ProviderErrorCode = keyof typeof failuresByCode | 'other';

export const providerErrorCodes = Object.keys(failuresByCode);

/**
 * Reads the `error` field of a provider's answer. `other` stands for an unknown code. An object or no text is no code.
 */
export function readProviderErrorCode(error: unknown): ProviderErrorCode | undefined {
  if (typeof error !== 'string' || error === '') return undefined;
  return isKnown(error) ? error : 'other';
}

function isKnown(error: string): error is keyof typeof failuresByCode {
  return Object.hasOwn(failuresByCode, error);
}

/** Returns the failure that a code means. @returns undefined for a plain refusal, and without a known code */
export function failureForCode(code: ProviderErrorCode | undefined) {
  return code === undefined || code === 'other' ? undefined : (failuresByCode[code] ?? undefined);
}
