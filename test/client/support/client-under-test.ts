import type { Login, LoginOptions, LoginRequest } from '../../../client/client.d.ts';
import { createLogin } from '../../../client/src/index.ts';
import { FakePage, leave, show, useBrowserGlobals } from './fake-page.ts';
import { FakeRelay, relay } from './fake-relay.ts';

export const home = 'https://app.example.com/';
export const modes = { tokens: undefined, 'a session cookie': 'session' } as const;

/** The relay's parameters for a login that the person cancelled. */
export const cancelled = {
  error: 'access_denied',
  error_description: 'You cancelled.',
  request_id: 'request-7',
};

export const userUrl = 'https://login.example.com/api/user';

/** A page with the client, in a browser and at a relay of its own. */
export class ClientUnderTest {
  readonly server = new FakeRelay();
  readonly page = show(new FakePage(home));
  readonly #mode: 'session' | undefined;

  constructor(mode?: 'session') {
    this.#mode = mode;
  }

  open(options: Partial<LoginOptions> = {}): Login {
    const mode = this.#mode;
    return createLogin({ relay, clientId: 'app', ...(mode && { mode }), ...options });
  }

  /** The page after a load of this address. */
  load(href = this.page.href, options: Partial<LoginOptions> = {}): Login {
    leave();
    this.page.href = href;
    return this.open(options);
  }

  /** Starts a login, and returns the parameters of the start. */
  async start(login: Login, request?: LoginRequest): Promise<URLSearchParams> {
    const from = (request?.popup && this.page.popup) || this.page;
    const { length } = from.visits;
    login.login(request).catch(() => {});
    while (from.visits.length === length) await new Promise((resolve) => setTimeout(resolve));
    return from.start;
  }

  /** The address that a login comes back to. In session mode, the relay sets the cookie on the way. */
  comesBackTo(started: URLSearchParams, failure?: Record<string, string>): string {
    const state = started.get('state') ?? '';
    const isSession = this.#mode === 'session';
    if (failure) return `${home}?${new URLSearchParams({ ...failure, state, iss: relay })}`;
    if (isSession) this.server.hasCookie = true;
    return isSession
      ? (started.get('return_to') ?? '')
      : `${home}?${new URLSearchParams({ code: 'code', state, iss: relay })}`;
  }

  async logIn(options: Partial<LoginOptions> = {}): Promise<Login> {
    const login = this.load(this.comesBackTo(await this.start(this.open(options))), options);
    await login.ready;
    return login;
  }

  /** Another tab of the same browser, in which a person logs in. */
  async logInElsewhere(): Promise<Login> {
    this.page.href = this.comesBackTo(await this.start(this.open()));
    const login = this.open();
    await login.ready;
    return login;
  }
}

/** One page for each test of the enclosing `describe`. */
export function useClient(mode?: 'session'): () => ClientUnderTest {
  useBrowserGlobals();
  const realFetch = globalThis.fetch;
  let client: ClientUnderTest | undefined;
  beforeEach('open the page', () => {
    client = new ClientUnderTest(mode);
    globalThis.fetch = client.server.fetch as typeof fetch;
  });
  afterEach('restore fetch', () => {
    globalThis.fetch = realFetch;
  });
  return () => {
    if (client === undefined) throw new Error('the page has not been opened');
    return client;
  };
}
