import { expect } from 'chai';
import type { Login } from '../../client/client.d.ts';
import { createLogin } from '../../client/src/index.ts';
import {
  FakePage,
  failureOf,
  keptRecords,
  leave,
  show,
  useBrowserGlobals,
} from './support/fake-page.ts';
import { FakeRelay, relay } from './support/fake-relay.ts';

const home = 'https://app.example.com/';
const realFetch = globalThis.fetch;

describe('the client in session mode', () => {
  useBrowserGlobals();
  let server: FakeRelay;
  let page: FakePage;
  beforeEach(() => {
    server = new FakeRelay();
    globalThis.fetch = server.fetch as typeof fetch;
    page = show(new FakePage(home));
  });
  afterEach(() => {
    globalThis.fetch = realFetch;
  });

  const open = (): Login => createLogin({ relay, clientId: 'app', mode: 'session' });

  /** The page after a load of this address. */
  function load(href = page.href): Login {
    leave();
    page.href = href;
    return open();
  }

  async function openLoggedIn(): Promise<Login> {
    server.hasCookie = true;
    const login = load();
    await login.ready;
    return login;
  }

  /** Starts a login, and returns its parameters. */
  async function start(login: Login, from = page): Promise<URLSearchParams> {
    login.login({ popup: from !== page }).catch(() => {});
    while (from.visits.length === 0) await new Promise((resolve) => setTimeout(resolve));
    return from.start;
  }

  it('starts with the page to return to, and without a challenge', async () => {
    page.href = `${home}list?page=2#third`;
    const { state, ...parameters } = Object.fromEntries(await start(open()));
    expect(state).to.match(/^[\w-]{22,}$/);
    expect(parameters).to.deep.equal({
      client_id: 'app',
      scope: '',
      return_to: `${home}list?page=2#third`,
    });
  });

  it('is logged in once the browser has the cookie, and keeps nothing itself', async () => {
    await start(open());
    const login = await openLoggedIn();
    expect(login.session).to.include({ provider: 'provider' });
    expect(await login.user()).to.deep.equal({ login: 'ada' });
    expect(page.sessionStorage).to.deep.equal({});
    expect(keptRecords()).to.deep.equal([]);
  });

  it('is logged out without the cookie', async () => {
    const login = open();
    expect(await login.ready).to.equal(null);
    expect(await login.user()).to.equal(null);
    expect(server.count('GET /api/user')).to.equal(0);
  });

  it('rejects with the reason of a failed login, and takes it off the address', async () => {
    const state = (await start(open())).get('state') ?? '';
    const failure = new URLSearchParams({ error: 'access_denied', state, request_id: 'request-7' });
    const login = load(`${home}?${failure}`);
    expect(await failureOf(login.ready)).to.include({
      code: 'access_denied',
      requestId: 'request-7',
    });
    expect(page.href).to.equal(home);
  });

  it('refreshes a session whose token has ended, and sends the request again', async () => {
    const login = await openLoggedIn();
    server.next['/api/user'] = [{ status: 401 }];
    expect(await login.user()).to.deep.equal({ login: 'ada' });
    expect(server.count('POST /auth/session/refresh')).to.equal(1);
  });

  it('ends the session after a second 401', async () => {
    const login = await openLoggedIn();
    server.next['/api/user'] = [{ status: 401 }, { status: 401 }];
    expect(await login.user()).to.equal(null);
    expect(server.hasCookie).to.equal(false);
  });

  it('ends the session if the relay refuses to refresh it', async () => {
    const login = await openLoggedIn();
    server.next['/api/user'] = [{ status: 401 }];
    server.next['/auth/session/refresh'] = [{ status: 401, body: { error: 'session_refused' } }];
    expect(await login.user()).to.equal(null);
    expect(login.session).to.equal(null);
    expect(server.hasCookie).to.equal(false);
  });

  it('logs out, and tells the address of the provider’s own logout', async () => {
    const login = await openLoggedIn();
    expect(await login.logout()).to.equal('https://provider.example.com/logout');
    expect(login.session).to.equal(null);
    expect(server.hasCookie).to.equal(false);
  });

  it('stays logged in if the relay does not answer the logout', async () => {
    const login = await openLoggedIn();
    server.next['/auth/logout'] = [new TypeError('Failed to fetch')];
    expect(await failureOf(login.logout())).to.include({ code: 'network' });
    expect(login.session).not.to.equal(null);
  });

  it('logs in the page that opened a popup, and closes it', async () => {
    const login = open();
    await login.ready;
    const popup = new FakePage('about:blank');
    page.popup = popup;
    await start(login, popup);
    const changed = new Promise((resolve) => login.onChange(resolve));
    server.hasCookie = true;
    popup.href = home;
    show(popup);
    await open().ready;
    expect(await changed).to.include({ provider: 'provider' });
    expect(popup.isClosed).to.equal(true);
  });
});
