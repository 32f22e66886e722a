import { type FailureCode, RelayError } from '../failures/relay-error.ts';

/** The texts of the relay's pages, besides the details of failures. Words in braces are filled in. */
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

/** The failures whose details are for people, who can resolve them or wait. All other details are for developers. */
const failuresForPeople = [
  'code_missing',
  'query_missing',
  'app_installed',
  'app_requested',
  'state_missing',
  'state_unknown',
  'state_finished',
  'state_expired',
  'state_premature',
  'state_altered',
  'cookie_invalid',
  'issuer_mismatch',
  'issuer_missing',
  'navigation_required',
  'callback_framed',
  'access_denied',
  'authorization_refused',
  'access_refused',
  'access_unchecked',
  'sso_required',
  'application_unapproved',
  'address_refused',
  'account_restricted',
  'prefetch_refused',
  'front_end_gone',
  'client_expired',
  'consent_denied',
  'code_refused',
  'token_refused',
  'client_refused',
  'redirect_uri_refused',
  'token_missing',
  'token_endpoint_failed',
  'provider_unreachable',
  'provider_answer_unusable',
  'provider_timeout',
  'user_record_signed',
  'identity_too_long',
  'identity_unknown',
  'identity_unchecked',
  'login_needed',
  'cookie_refused',
  'check_ineffective',
  'relay_paths_checked',
  'foreign_page_refused',
  'upstream_unreachable',
  'upstream_timeout',
  'streams_full',
  'provider_undiscovered',
  'provider_unsupported',
  'session_too_large',
  'rate_limited',
  'too_many_refusals',
  'overloaded',
  'memory_away',
  'not_found',
  'internal_error',
] as const satisfies readonly FailureCode[];

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

/** The key of the text for a failure. Undefined if its detail is for developers. */
export function keyOfFailure({ code, detail }: RelayError): string | undefined {
  const [key, keyOnceSpent] = keysOf(code);
  // Only its detail shows whether the failure is one after which the code may be spent.
  if (pageTexts[keyOnceSpent] === detail) return keyOnceSpent;
  return key in pageTexts ? key : undefined;
}

/** @param isLoggedIn whether the failure is none of a login, because the person is logged in already */
export function headingOfFailure(code: FailureCode, isLoggedIn = false): Label {
  const key = `heading_${code}`;
  if (isLabel(key)) return key;
  return isLoggedIn ? 'heading_page_failed' : 'heading_failed';
}

function isLabel(key: string): key is Label {
  return key in labels;
}
