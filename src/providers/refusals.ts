/**
 * The error codes that providers send, each with the failure that it means; `null`: only that a request was refused. Logs
 * and metrics name a code only if it is in this table, so that neither ever holds free text.
 *
 * @see RFC 6749 §4.1.2.1 and §5.2, OpenID Connect Core 1.0 §3.1.2.6, RFC 8707, RFC 9101, RFC 9449
 */
const meanings = {
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
 * Which credential an error code or an error text refuses, if that is known: `invalid_client` does not say it. A text is
 * compared as a whole: longer ones name several causes.
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
export const messageMeanings: ReadonlyMap<unknown, 'client_refused' | 'code_refused'> = new Map([
  ['Invalid authorization code', 'code_refused'],
  ['invalid client', 'client_refused'],
  ['invalid client secret', 'client_refused'],
]);

/** Gitea and Forgejo call a wrong code or refresh token `unauthorized_client`, with these descriptions. */
export const wrongGrants: ReadonlySet<string> = new Set([
  'client is not authorized',
  'unable to parse refresh token',
  'token was already used',
]);

/**
 * Words of an answer that says to try again, for example at a rate limit. Withings, WeChat, Salesforce, gateways and AWS
 * say so in the shape of a refusal, with status 200, 400 or 401.
 */
export const passingWords =
  /too[ _-]?many[ _-]?requests|rate[ _-]?(?:limit|exceed)|throttl|slow[ _-]?down|temporar|unavailable|overload|(?:internal|system|server)[ _-]?(?:server[ _-]?)?error|system busy|^(?:(?:connection|gateway|request|upstream) ){0,2}time[ _-]?out\b|(?:try|retry)(?: it| your request)? (?:again )?(?:later|in a)|retry your request/i;

/** The statuses with which a refresh token is refused, whatever the answer calls the reason. @see RFC 6749 §5.2 */
export const refusalStatuses: ReadonlySet<number> = new Set([400, 401]);

/** The statuses of a revocation whose token is unknown: 400 Google, 404 and 422 GitHub. */
export const unknownToken: ReadonlySet<number> = new Set([400, 404, 422]);

/** A code of the table, or `other`. */
export type ProviderErrorCode = keyof typeof meanings | 'other';

/** Every code of the table. */
export const providerErrorCodes = Object.keys(meanings);

/** Narrows the `error` field of a provider's answer. An object or an empty text is no code. */
export function providerErrorCode(error: unknown): ProviderErrorCode | undefined {
  if (typeof error !== 'string' || error === '') return undefined;
  return isKnown(error) ? error : 'other';
}

function isKnown(error: string): error is keyof typeof meanings {
  return Object.hasOwn(meanings, error);
}

/** The failure that a code means; undefined if it says only that a request was refused. */
export function failureMeantBy(code: ProviderErrorCode | undefined) {
  return code === undefined || code === 'other' ? undefined : (meanings[code] ?? undefined);
}
