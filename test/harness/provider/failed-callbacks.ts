import type { FailureCode } from '../../../src/failures/relay-error.ts';
import { callback, type FakeBrowser, type Login, navigationWith } from '../browser/fake-browser.ts';
import type { Answer } from '../client/http-client.ts';
import { baseUrl } from '../relay/relay.ts';
import { answer, json, reset } from './provider-behaviours.ts';
import type { Behaviour, StrictProvider } from './strict-provider.ts';

/** The key that seals the logins of these callbacks. */
export const key = 'the-current-key-of-this-very-relay-1';
const eleven = 11 * 60;

/** Changes the browser before the callback. Returns the path of the callback. */
type Prepare = (login: Login, browser: FakeBrowser) => string | Promise<string>;

/** How a callback fails, and what the front end gets. */
export interface FailedCallback {
  readonly failure: FailureCode;
  /** Whether the callback was verified, so that the front end's state is known. */
  readonly proved: boolean;
  readonly detail?: string;
  readonly onToken?: Behaviour;
  readonly prepare?: Prepare;
  readonly isFramed?: boolean;
  readonly age?: number;
}

const proved = (failure: FailureCode, prepare: Prepare, detail?: string): FailedCallback => ({
  failure,
  proved: true,
  prepare,
  ...(detail && { detail }),
});
const unproved = (failure: FailureCode, prepare: Prepare, detail?: string): FailedCallback => ({
  ...proved(failure, prepare, detail),
  proved: false,
});
const exchange = (failure: FailureCode, onToken: Behaviour): FailedCallback => ({
  failure,
  proved: true,
  onToken,
});

/** Failures of the callback, by what happens. */
export const failedCallbacks: Record<string, FailedCallback> = {
  'there is no code': proved('code_missing', ({ state }) => callback({ state })),
  'the code is too long': proved('code_too_long', ({ state }) => callback({ state, code: 'c'.repeat(4097) })),
  'the code cannot be decoded': proved('code_malformed', ({ state }) => `${callback({ state })}&code=%ff`),
  'a parameter is repeated': proved(
    'parameter_repeated',
    ({ state, code }) => `${callback({ state, code })}&code=${code}`,
  ),
  'the state is missing': unproved('state_missing', ({ code }) => callback({ code })),
  'the state is of another browser': unproved(
    'state_unknown',
    ({ state, code }, browser) => {
      browser.cookies.clear();
      return callback({ state, code });
    },
    `This browser did not start this login at ${baseUrl}, or has forgotten it. Start the login again.`,
  ),
  'the login is already finished': unproved('state_finished', async ({ state, code }, browser) => {
    await browser.open(callback({ state, error: 'access_denied' }));
    return callback({ state, code });
  }),
  'the state has expired': { failure: 'state_expired', proved: true, age: eleven },
  'the state comes from the future': { failure: 'state_premature', proved: true, age: -eleven },
  'the state is altered': unproved('state_altered', ({ state, code }) => callback({ state: `${state}AAAA`, code })),
  'the cookie is damaged': unproved('cookie_invalid', ({ state, code, cookie }, browser) => {
    browser.cookies.set(cookie.name, 'damaged');
    return callback({ state, code });
  }),
  'it is opened inside a frame': { failure: 'callback_framed', proved: false, isFramed: true },
  'the person denies access': proved('access_denied', ({ state }) => callback({ state, error: 'access_denied' })),
  'the provider refuses with a known error code': proved(
    'authorization_refused',
    ({ state }) => callback({ state, error: 'server_error' }),
    'The provider did not authorize the login (server_error). Start the login again.',
  ),
  'the provider refuses with an unknown error code': proved('authorization_refused', ({ state }) =>
    callback({ state, error: '<b>', error_description: 'Log in at https://evil.example' }),
  ),
  'the provider refuses and forgets the state': unproved('access_denied', () => callback({ error: 'access_denied' })),
  'the provider refuses the code': exchange('token_refused', answer(401, '{}')),
  'the provider sends no token': exchange('token_missing', json({})),
  'the provider resets the connection': exchange('provider_unreachable', reset),
  'the provider sends too much': exchange('provider_answer_unusable', answer(200, ' '.repeat(1_100_000))),
};

/** Opens the callback of a login in its browser, so that it fails. */
export async function openFailedCallback(
  { onToken, prepare, isFramed }: FailedCallback,
  login: Login,
  browser: FakeBrowser,
  provider: StrictProvider,
): Promise<Answer> {
  browser.cookies.set(login.cookie.name, login.cookie.value);
  if (onToken) provider.onToken = onToken;
  const { code, state } = login;
  const path = (await prepare?.(login, browser)) ?? callback({ code, state });
  const headers = navigationWith('Sec-Fetch-Dest', 'iframe');
  return await browser.open(path, isFramed ? { headers } : {});
}
