import { type Failures, withSameAnswer } from './failure.ts';

/** Failures of a login: its start, its callback, its state. */
export const loginFailures = {
  code_missing: 'The callback was opened without an authorization code. Start the login again.',
  query_missing:
    'The callback was opened without any parameters. If that was at the end of a login, something in front of this relay, such as a proxy or CDN, removes the query from addresses.',
  app_installed:
    'The app was installed at the provider, or its installation was changed. That alone does not log you in: start the login to go on.',
  code_too_long: 'The authorization code is too long. Start the login again.',
  code_malformed: 'The authorization code is not valid percent-encoded text. Start the login again.',
  parameter_repeated: 'A parameter of the callback was given more than once. Start the login again.',
  front_end_state_unusable:
    'The front end sent a state that is longer than 2,048 characters, not text, or given more than once.',
  state_missing: 'The callback has no state, so this relay did not start the login. Start the login again.',
  state_unknown: 'This browser did not start this login, or has forgotten it. Start the login again.',
  state_finished: 'This login is already finished. Start a new one to log in again.',
  state_expired: 'This login took longer than ten minutes and has expired. Start the login again.',
  state_premature: 'This login was started by a machine whose clock is ahead. Start the login again in a minute.',
  state_altered: 'The state of this login was altered, or made by another relay. Start the login again.',
  cookie_invalid: 'The cookie of this login is damaged, or was sent twice. Start the login again.',
  issuer_mismatch: 'The response does not come from the provider that this login went to. Start the login again.',
  issuer_missing: 'The response does not say which provider it comes from. Start the login again.',
  navigation_required: 'A person has to answer here. Open this address in a window of its own.',
  callback_framed: 'A login cannot be finished inside a frame. Open it in its own window.',
  ...withSameAnswer('access_denied', {
    app_requested:
      'An owner of the organization has to approve the app at the provider first. Start the login again after that.',
    access_denied: 'The login was cancelled or denied at the provider (access_denied). Start it again.',
    authorization_refused: 'The provider did not authorize the login. Start the login again.',
  }),
  access_refused: {
    status: 403,
    detail: 'This account may not use this application. Log in with another account.',
    oauthError: 'access_denied',
  },
  ...withSameAnswer(
    { status: 403, oauthError: 'access_denied' },
    {
      sso_required:
        'Your organization requires single sign-on. Open the organization at the provider and log in to it there. Then log in here again.',
      application_unapproved:
        'Your organization does not let this application see its members. An owner of the organization has to approve the application. Then log in here again.',
      address_refused:
        'Your organization accepts only addresses on its list, and the address of this server is not on it. Only an owner of the organization can add it.',
      account_restricted:
        'The provider restricts your account. Log in at the provider itself and do what it asks for, such as accepting terms or changing the password. Then log in here again.',
    },
  ),
  ...withSameAnswer('invalid_grant', {
    access_ended: 'This account may no longer use this application. Log in with another account.',
  }),
  access_unchecked: {
    status: 502,
    detail:
      'It could not be checked whether this account may use this application: the provider did not say. Try again in a moment.',
    detailOnceSpent:
      'It could not be checked whether this account may use this application: the provider did not say. Start the login again in a moment.',
  },
  prefetch_refused: {
    status: 503,
    detail: 'A prefetch cannot start or finish a login. Open the address itself.',
    headers: { 'Retry-After': '1' },
  },
} as const satisfies Failures;
