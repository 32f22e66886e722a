import type { FailureCode } from '../../../src/errors.ts';
import { callback, type FakeBrowser, type Login } from '../browser/fake-browser.ts';
import type { Answer } from '../client/http-client.ts';
import { answer, json, reset, silence } from './provider-behaviours.ts';
import type { Behaviour, StrictProvider } from './strict-provider.ts';

/** The key that seals the logins of these callbacks. */
export const key = 'the-current-key-of-this-very-relay-1';
const eleven = 11 * 60;

/** How a callback fails, and what the front end gets. */
export interface FailedCallback {
  readonly failure: FailureCode;
  /** Whether the callback was verified, so that the front end's state is known. */
  readonly proved: boolean;
  readonly detail?: string;
  readonly onToken?: Behaviour;
  /** Changes the browser before the callback. Returns the path of the callback. */
  readonly prepare?: (login: Login, browser: FakeBrowser) => string | Promise<string>;
  readonly age?: number;
}

/** Failures of the callback, by what happens. */
export const failedCallbacks: Record<string, FailedCallback> = {
  'there is no code': {
    failure: 'code_missing',
    proved: true,
    prepare: ({ state }) => callback({ state }),
  },
  'the code is too long': {
    failure: 'code_too_long',
    proved: true,
    prepare: ({ state }) => callback({ state, code: 'c'.repeat(4097) }),
  },
  'the code cannot be decoded': {
    failure: 'code_malformed',
    proved: true,
    prepare: ({ state }) => `${callback({ state })}&code=%ff`,
  },
  'a parameter is repeated': {
    failure: 'parameter_repeated',
    proved: true,
    prepare: ({ state, code }) => `${callback({ state, code })}&code=${code}`,
  },
  'the state is missing': {
    failure: 'state_missing',
    proved: false,
    prepare: ({ code }) => callback({ code }),
  },
  'the state is of another browser': {
    failure: 'state_unknown',
    proved: false,
    detail:
      'This browser did not start this login at https://relay.example, or has forgotten it. Start the login again.',
    prepare({ state, code }, browser) {
      browser.cookies.clear();
      return callback({ state, code });
    },
  },
  'the login is already finished': {
    failure: 'state_finished',
    proved: false,
    async prepare(login, browser) {
      await browser.open(callback({ state: login.state, error: 'access_denied' }));
      return callback({ state: login.state, code: login.code });
    },
  },
  'the state has expired': { failure: 'state_expired', proved: true, age: eleven },
  'the state comes from the future': { failure: 'state_premature', proved: true, age: -eleven },
  'the state is altered': {
    failure: 'state_altered',
    proved: false,
    prepare: ({ state, code }) => callback({ state: `${state}AAAA`, code }),
  },
  'the cookie is damaged': {
    failure: 'cookie_invalid',
    proved: false,
    prepare({ state, code, cookie }, browser) {
      browser.cookies.set(cookie.name, 'damaged');
      return callback({ state, code });
    },
  },
  'the person denies access': {
    failure: 'access_denied',
    proved: true,
    prepare: ({ state }) => callback({ state, error: 'access_denied' }),
  },
  'the provider refuses with a known error code': {
    failure: 'authorization_refused',
    proved: true,
    detail: 'The provider did not authorize the login (server_error). Start the login again.',
    prepare: ({ state }) => callback({ state, error: 'server_error' }),
  },
  'the provider refuses with an unknown error code': {
    failure: 'authorization_refused',
    proved: true,
    prepare: ({ state }) =>
      callback({ state, error: '<b>', error_description: 'Log in at https://evil.example' }),
  },
  'the provider refuses and forgets the state': {
    failure: 'access_denied',
    proved: false,
    prepare: () => callback({ error: 'access_denied' }),
  },
  'the provider refuses the code': {
    failure: 'token_refused',
    proved: true,
    onToken: answer(401, '{}'),
  },
  'the provider sends no token': { failure: 'token_missing', proved: true, onToken: json({}) },
  'the provider resets the connection': {
    failure: 'provider_unreachable',
    proved: true,
    onToken: reset,
  },
  'the provider sends too much': {
    failure: 'provider_answer_unusable',
    proved: true,
    onToken: answer(200, ' '.repeat(1_100_000)),
  },
  'the provider is silent': { failure: 'provider_timeout', proved: true, onToken: silence },
};

/** Opens the callback of a login in its browser, so that it fails. */
export async function openFailedCallback(
  { onToken, prepare }: FailedCallback,
  login: Login,
  browser: FakeBrowser,
  provider: StrictProvider,
): Promise<Answer> {
  browser.cookies.set(login.cookie.name, login.cookie.value);
  if (onToken) provider.onToken = onToken;
  const { code, state } = login;
  return await browser.open((await prepare?.(login, browser)) ?? callback({ code, state }));
}
