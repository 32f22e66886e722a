import { type FailureCode, failureCodes, RelayError } from '../failures/relay-error.ts';

/**
 * The texts of the relay's pages, besides the details of failures. Words in braces are filled in. The translations in
 * `deploy/pages/` have the same keys in the same order.
 */
const labels = {
  heading_failed: 'Login failed',
  heading_access_denied: 'Login cancelled',
  heading_access_refused: 'No access',
  heading_state_finished: 'Login already finished',
  heading_state_expired: 'Login expired',
  heading_not_found: 'Page not found',
  heading_app_installed: 'The app is installed',
  heading_app_requested: 'An owner has to approve',
  heading_page_unknown: 'Another address is expected',
  heading_login_needed: 'Log in, then send again',
  heading_cookie_refused: 'The cookie is missing',
  heading_cookie_unaccepted: 'The cookie is not accepted',
  heading_check_ineffective: 'The proxy does not let you pass',
  heading_relay_paths_checked: 'Logins cannot end here',
  heading_foreign_page_refused: 'Sent from another site',
  heading_upstream_unreachable: 'The page does not answer',
  heading_upstream_timeout: 'The page does not answer',
  heading_streams_full: 'Too busy at the moment',
  heading_upload_too_large: 'The upload is too large',
  heading_page_failed: 'The page cannot be shown',
  logged_in_as: 'You are logged in as {person}.',
  log_in_again: 'Log in again',
  log_in_otherwise: 'Log in with another account',
  back_to: 'Back to {site}',
  log_in_elsewhere: 'Log in in another tab',
  go_on: 'Go on to {site}',
  choose_heading: 'Log in',
  choose_about: 'How do you want to log in to {site}?',
  log_in_with: 'Log in with {provider}',
  login_ahead: 'To open this page of {site}, you have to log in.',
  go_to_login: 'Go to the login',
  log_out_heading: 'Log out?',
  log_out_about: 'You will be logged out of {site} in this browser.',
  log_out: 'Log out',
  logged_out_heading: 'You are logged out',
  logged_out_about: 'You are logged out of {site}. You may still be logged in at the provider.',
  whom_to_ask: 'Questions? Ask {contact}.',
  request_id: 'Request ID: {id}',
  home_heading: 'A login relay',
  home_about: 'This server logs people in for other pages. There is nothing else to see here.',
  home_ready: 'It is ready.',
  home_not_ready: 'It is not ready at the moment.',
  home_go: 'Go to {site}',
  cms_heading: 'Back to the CMS',
  cms_waiting: 'Waiting for the CMS…',
  cms_logged_in: 'You are logged in there. You can close this window.',
  cms_failed: 'The CMS shows this, too. You can close this window.',
  cms_no_opener:
    'This window has lost the page that opened it, so the CMS gets no answer. Close this window, and log in with the button of the CMS. If that fails again, the admin page or the provider sends Cross-Origin-Opener-Policy: same-origin, which separates the two windows.',
  cms_no_answer:
    'The CMS does not answer. Close this window, and log in with the button of the CMS. If that fails again, the admin page is not at {origin}, where the relay expects it, or base_url in its config.yml is not the origin of this window.',
  needs_scripts:
    'This page needs its script, which did not run. Allow JavaScript here. If it is allowed, something between the relay and this browser changes its pages.',
  failed_otherwise: '{detail}',
  consent_heading: 'Let a program log in as you?',
  consent_program: 'Who asks',
  consent_nameless: 'A program without a name',
  consent_unchecked: 'It chose this name itself. Nobody checked who made it.',
  consent_destination: 'Where your login goes',
  consent_this_device: 'a program on this device ({host})',
  consent_this_app: 'an app on this device ({scheme})',
  consent_account: 'Your account at',
  consent_resource: 'What it may use',
  consent_scope: 'What it asks for',
  consent_learns: 'What it learns',
  consent_advice: 'Continue only if you have just started this yourself, and know the program.',
  consent_continue: 'Continue',
  consent_cancel: 'Cancel',
  consent_too_early:
    'This page has just appeared. Read it, move the pointer or press a key, and press Continue again after a second.',
  consent_unread: 'This was not in view yet. Read it, scroll down, and press Continue again.',
  consent_again_heading: 'Are you sure?',
  consent_again_about: 'You are asked once more, because your browser runs no scripts here.',
  consent_again_digits:
    'If you have just started this login yourself, type the digits that are framed above, from top to bottom:',
  scope_everyone: 'what the provider gives to everyone',
  scope_identity: 'who you are',
  scope_profile: 'your name and picture',
  scope_email: 'your e-mail address',
  scope_groups: 'your groups and organizations',
  scope_lasting: 'access while you are away',
  scope_read: 'reading what your account can read',
  scope_write: 'reading and changing what your account can change',
  scope_repositories: 'reading and changing all your repositories, private ones too',
  scope_public: 'reading and changing your public repositories',
} as const;

/** Who reads the detail of a failure: a person, who can resolve it or wait, or a developer. */
const readersOfDetails: Readonly<Record<FailureCode, 'person' | 'developer'>> = {
  code_missing: 'person',
  query_missing: 'person',
  app_installed: 'person',
  code_too_long: 'developer',
  code_malformed: 'developer',
  parameter_repeated: 'developer',
  front_end_state_unusable: 'developer',
  state_missing: 'person',
  state_unknown: 'person',
  state_finished: 'person',
  state_expired: 'person',
  state_premature: 'person',
  state_altered: 'person',
  cookie_invalid: 'person',
  issuer_mismatch: 'person',
  issuer_missing: 'person',
  navigation_required: 'person',
  callback_framed: 'person',
  app_requested: 'person',
  access_denied: 'person',
  authorization_refused: 'person',
  access_refused: 'person',
  sso_required: 'person',
  application_unapproved: 'person',
  address_refused: 'person',
  account_restricted: 'person',
  access_ended: 'developer',
  access_unchecked: 'person',
  prefetch_refused: 'person',
  client_unknown: 'developer',
  client_unauthorized: 'developer',
  oauth_off: 'developer',
  front_end_gone: 'person',
  page_unknown: 'developer',
  redirect_uri_unknown: 'developer',
  request_invalid: 'developer',
  cms_backend_wrong: 'developer',
  response_type_unsupported: 'developer',
  scope_refused: 'developer',
  consent_exceeded: 'developer',
  pkce_required: 'developer',
  token_request_invalid: 'developer',
  content_type_unsupported: 'developer',
  body_too_large: 'developer',
  client_id_wrong: 'developer',
  machine_secret_wrong: 'developer',
  machine_assertion_invalid: 'developer',
  client_expired: 'person',
  client_document_unreachable: 'developer',
  client_document_invalid: 'developer',
  client_metadata_invalid: 'developer',
  redirect_uris_invalid: 'developer',
  resource_refused: 'developer',
  consent_denied: 'person',
  origin_foreign: 'developer',
  grant_unsupported: 'developer',
  grant_invalid: 'developer',
  code_expired: 'developer',
  code_redeemed: 'developer',
  verifier_wrong: 'developer',
  key_mismatch: 'developer',
  refresh_reused: 'developer',
  refresh_refused: 'developer',
  proof_missing: 'developer',
  proof_invalid: 'developer',
  nonce_required: 'developer',
  code_refused: 'person',
  token_refused: 'person',
  client_refused: 'person',
  redirect_uri_refused: 'person',
  token_missing: 'person',
  token_endpoint_failed: 'person',
  provider_unreachable: 'person',
  provider_answer_unusable: 'person',
  provider_timeout: 'person',
  user_record_signed: 'person',
  provider_undiscovered: 'person',
  provider_unsupported: 'person',
  session_missing: 'developer',
  credentials_missing: 'developer',
  credentials_malformed: 'developer',
  session_token_expired: 'developer',
  session_refused: 'developer',
  token_malformed: 'developer',
  token_invalid: 'developer',
  token_of_relay: 'developer',
  lookup_forbidden: 'developer',
  lookup_failed: 'developer',
  lookup_postponed: 'developer',
  user_endpoint_missing: 'developer',
  credentials_repeated: 'developer',
  provider_unknown: 'developer',
  return_to_invalid: 'developer',
  session_too_large: 'person',
  request_header_missing: 'developer',
  cross_site_refused: 'developer',
  host_foreign: 'developer',
  api_of_other_provider: 'developer',
  path_refused: 'developer',
  upload_too_large: 'developer',
  resource_token_missing: 'developer',
  resource_token_invalid: 'developer',
  resource_token_expired: 'developer',
  upstream_refused_token: 'developer',
  upstream_unreachable: 'person',
  upstream_answer_unusable: 'developer',
  upstream_refused_relay: 'developer',
  upstream_timeout: 'person',
  streams_full: 'person',
  websocket_unsupported: 'developer',
  host_unknown: 'developer',
  resource_token_misplaced: 'developer',
  request_unknown: 'developer',
  login_needed: 'person',
  cookie_refused: 'person',
  cookie_unaccepted: 'person',
  foreign_page_refused: 'person',
  check_ineffective: 'person',
  relay_paths_checked: 'person',
  resource_secret_wrong: 'developer',
  identity_too_long: 'person',
  provider_token_too_long: 'developer',
  identity_unknown: 'person',
  identity_unchecked: 'person',
  rate_limited: 'person',
  too_many_refusals: 'person',
  overloaded: 'person',
  memory_away: 'person',
  not_ready: 'developer',
  client_gone: 'developer',
  pipelined_too_many: 'developer',
  not_found: 'person',
  method_not_allowed: 'developer',
  host_unusable: 'developer',
  parameters_too_many: 'developer',
  bad_request: 'developer',
  tls_unexpected: 'developer',
  tls_missing: 'developer',
  proxy_protocol_unexpected: 'developer',
  http2_unexpected: 'developer',
  chunks_too_small: 'developer',
  request_timeout: 'developer',
  headers_too_large: 'developer',
  internal_error: 'person',
};

const failuresForPeople = failureCodes.filter((code) => readersOfDetails[code] === 'person');

/** The keys of a failure's texts. The second key is for a failure after which the login's code may be spent. */
const keysOf = (code: FailureCode) => [code, `${code}_spent`] as const;

const failureTexts = failuresForPeople.flatMap((code) => {
  const failure = new RelayError(code);
  const { detail } = failure;
  const detailOnceSpent = failure.onceSpent().detail;
  const [key, keyOnceSpent] = keysOf(code);
  const text = [key, detail];
  return detailOnceSpent === detail ? [text] : [text, [keyOnceSpent, detailOnceSpent]];
});

/** All texts of the relay's pages, by key. An operator can replace each. */
export const pageTexts: Readonly<Record<string, string>> = {
  ...labels,
  ...Object.fromEntries(failureTexts),
};

/** The key of a text that does not describe a failure. */
export type Label = keyof typeof labels;

/** The words in braces in a text, sorted. */
export function placeholdersOf(text: string): readonly string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).toSorted();
}

/** The key of the text for a failure. @returns undefined if its detail is for developers */
export function keyOfFailure({ code, detail }: RelayError): string | undefined {
  const [key, keyOnceSpent] = keysOf(code);
  // Only the detail of a failure shows whether the code may be spent after it.
  if (pageTexts[keyOnceSpent] === detail) return keyOnceSpent;
  return key in pageTexts ? key : undefined;
}

/**
 * The key of the heading of a failure's page.
 *
 * @param isLoggedIn whether the person is logged in already, so that the failure does not belong to a login
 */
export function headingOfFailure(code: FailureCode, isLoggedIn = false): Label {
  const key = `heading_${code}`;
  if (isLabel(key)) return key;
  return isLoggedIn ? 'heading_page_failed' : 'heading_failed';
}

function isLabel(key: string): key is Label {
  return key in labels;
}
