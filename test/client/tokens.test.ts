import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { Login, LoginOptions } from '../../client/client.d.ts';
import { createLogin } from '../../client/src/index.ts';
import { eventually } from '../harness/system/eventually.ts';
import {
  FakePage,
  failureOf,
  keptRecords,
  leave,
  restoreFromCache,
  show,
  useBrowserGlobals,
} from './support/fake-page.ts';
import { FakeRelay, relay } from './support/fake-relay.ts';

const home = 'https://app.example.com/';
const realFetch = globalThis.fetch;

describe('the client with tokens', () => {
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

  const open = (options: Partial<LoginOptions> = {}): Login =>
    createLogin({ relay, clientId: 'app', ...options });

  /** The page after a load of this address. */
  function load(href = page.href): Login {
    leave();
    page.href = href;
    return open();
  }

  /** Waits until a page has gone somewhere. */
  async function hasLeft(from: FakePage, visits: number): Promise<void> {
    while (from.visits.length < visits) await new Promise((resolve) => setTimeout(resolve));
  }

  /** Starts a login in the page, and returns what the relay adds to the address of the page. */
  async function start(login: Login, request = {}): Promise<URLSearchParams> {
    const { length } = page.visits;
    login.login(request);
    await hasLeft(page, length + 1);
    const state = page.start.get('state') ?? '';
    return new URLSearchParams({ code: 'code', state, iss: relay });
  }

  async function logIn(): Promise<Login> {
    const login = open();
    await login.ready;
    const response = await start(login);
    const after = load(`${home}?${response}`);
    await after.ready;
    return after;
  }

  it('starts with a challenge whose verifier redeems the code', async () => {
    const login = open({ redirectUri: `${home}in`, scope: 'read' });
    const response = await start(login);
    const { code_challenge: challenge, ...parameters } = Object.fromEntries(page.start);
    expect(parameters).to.deep.equal({
      client_id: 'app',
      state: response.get('state'),
      scope: 'read',
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: `${home}in`,
    });
    await load(`${home}?${response}`).ready;
    const verifier = server.requests[0]?.form['code_verifier'] ?? '';
    expect(verifier).to.match(/^[\w-]{43,128}$/);
    expect(createHash('sha256').update(verifier).digest('base64url')).to.equal(challenge);
  });

  it('finishes a login that comes back, and takes it off the address', async () => {
    const login = await logIn();
    expect(login.session).to.deep.equal({ accessToken: 'access-1', scope: 'read' });
    expect(page.href).to.equal(home);
    expect(page.sessionStorage).to.deep.equal({});
  });

  it('goes back to the page where the login started before it redeems the code', async () => {
    page.href = `${home}list?page=2#/third`;
    const response = await start(open());
    load(`${home}?${response}`);
    expect(page.visits.at(-1)).to.equal(`${home}list?page=2#/third`);
    expect(server.requests).to.deep.equal([]);
    const login = load(`${home}list?page=2#/third`);
    await login.ready;
    expect(login.session?.accessToken).to.equal('access-1');
  });

  it('keeps parameters of the page', async () => {
    page.href = `${home}?tab=two`;
    const response = await start(open());
    await load(`${home}?tab=two&${response}`).ready;
    expect(page.href).to.equal(`${home}?tab=two`);
  });

  it('ignores answers that this tab has not asked for, and takes them off the address', async () => {
    for (const forged of [
      'code=code&state=forged',
      'error=access_denied&state=forged',
      'code=code',
    ]) {
      const login = load(`${home}?${forged}&iss=${encodeURIComponent(relay)}`);
      expect(await login.ready).to.equal(null);
      expect(page.href).to.equal(home);
    }
    expect(server.requests).to.deep.equal([]);
  });

  it('ignores an answer of another issuer', async () => {
    const response = await start(open());
    response.set('iss', 'https://attacker.example.com');
    expect(await load(`${home}?${response}`).ready).to.equal(null);
    expect(server.requests).to.deep.equal([]);
  });

  it('rejects with the reason of a failed login', async () => {
    const response = await start(open());
    response.delete('code');
    for (const [name, value] of Object.entries({
      error: 'access_denied',
      error_description: 'You cancelled.',
      request_id: 'request-7',
    })) {
      response.set(name, value);
    }
    const login = load(`${home}?${response}`);
    expect(await failureOf(login.ready)).to.include({
      name: 'LoginError',
      code: 'access_denied',
      message: 'You cancelled.',
      requestId: 'request-7',
    });
    expect(page.href).to.equal(home);
  });

  it('keeps an earlier login if a new one fails', async () => {
    const response = await start(await logIn());
    response.set('error', 'access_denied');
    const login = load(`${home}?${response}`);
    await failureOf(login.ready);
    expect(login.session?.accessToken).to.equal('access-2');
  });

  it('restores the login after a reload', async () => {
    await logIn();
    const login = load();
    expect(await login.ready).to.include({ accessToken: 'access-2' });
  });

  it('keeps a key that scripts cannot read, and no access token', async () => {
    await logIn();
    const [kept] = keptRecords() as [{ key: CryptoKeyPair; refreshToken: string }];
    expect(Object.keys(kept)).to.deep.equal(['key', 'refreshToken']);
    expect(kept.key.privateKey.extractable).to.equal(false);
  });

  it('fetches with the token, and looks the user up', async () => {
    const login = await logIn();
    expect(await login.user()).to.deep.equal({ login: 'ada' });
    const response = await login.fetch('https://login.example.com/api/user');
    expect(response.status).to.equal(200);
  });

  it('finds no user if the login ends before the answer comes', async () => {
    const login = await logIn();
    globalThis.fetch = (async (input: Request) => {
      const response = await server.fetch(input);
      if (response.ok && input.url.includes('/api/user')) await login.logout();
      return response;
    }) as typeof fetch;
    expect(await login.user()).to.equal(null);
  });

  it('asks nobody if nobody is logged in', async () => {
    const login = open();
    expect(await login.user()).to.equal(null);
    expect((await login.fetch('https://login.example.com/api/user')).status).to.equal(401);
    expect(server.requests).to.deep.equal([]);
  });

  it('refreshes a token that has ended, once for all requests, and sends them again', async () => {
    const login = await logIn();
    server.next['/api/user'] = [{ status: 401 }, { status: 401 }, { status: 401 }];
    const users = await Promise.all([login.user(), login.user(), login.user()]);
    expect(users).to.deep.equal([{ login: 'ada' }, { login: 'ada' }, { login: 'ada' }]);
    expect(server.count('POST /auth/provider/token')).to.equal(2);
  });

  it('sends the body again', async () => {
    const login = await logIn();
    const url = 'https://login.example.com/other';
    server.next['/other'] = [{ status: 401 }, {}];
    await login.fetch(url, { method: 'POST', body: 'a=b' });
    const sent = server.requests.filter(({ line }) => line === 'POST /other');
    expect(sent.map(({ form }) => form)).to.deep.equal([{ a: 'b' }, { a: 'b' }]);
  });

  it('ends the login after a second 401', async () => {
    const login = await logIn();
    server.next['/api/user'] = [{ status: 401 }, { status: 401 }];
    expect(await login.user()).to.equal(null);
    expect(login.session).to.equal(null);
    expect(await load().ready).to.equal(null);
  });

  it('ends the login if the relay refuses to refresh it', async () => {
    const login = await logIn();
    server.token = 7;
    expect(await login.user()).to.equal(null);
    expect(login.session).to.equal(null);
    expect(keptRecords()).to.deep.equal([undefined]);
  });

  it('keeps the login while the relay does not answer', async () => {
    await logIn();
    server.next['/auth/provider/token'] = [new TypeError('Failed to fetch')];
    const login = load();
    expect(await failureOf(login.ready)).to.include({ code: 'network' });
    expect(await login.user()).to.deep.equal({ login: 'ada' });
  });

  it('keeps the login if only the lookup fails', async () => {
    const login = await logIn();
    server.next['/api/user'] = [{ status: 502, body: { detail: 'The provider is down.' } }];
    expect(await failureOf(login.user())).to.include({
      code: 'http_502',
      message: 'The provider is down.',
      requestId: 'request-1',
    });
    expect(login.session).not.to.equal(null);
  });

  it('passes on that a request was aborted', async () => {
    const login = await logIn();
    const error = await login
      .fetch('https://login.example.com/api/user', { signal: AbortSignal.abort() })
      .catch(({ name }: Error) => name);
    expect(error).to.equal('AbortError');
  });

  it('proves its key by the clock of the relay if that of the device is wrong', async () => {
    server.now = () => Date.now() + 3_600_000;
    const login = await logIn();
    expect(login.session?.accessToken).to.equal('access-1');
    expect(server.count('POST /auth/provider/token')).to.equal(2);
    await load().ready;
    expect(server.count('POST /auth/provider/token')).to.equal(3);
  });

  it('gives up if the relay refuses every proof', async () => {
    const response = await start(open());
    const refused = { status: 400, body: { error: 'invalid_dpop_proof' } };
    server.next['/auth/provider/token'] = [refused, refused];
    const login = load(`${home}?${response}`);
    expect(await failureOf(login.ready)).to.include({ code: 'invalid_dpop_proof' });
  });

  it('logs out, and revokes the newest refresh token', async () => {
    const login = await logIn();
    await login.logout();
    expect(login.session).to.equal(null);
    expect(keptRecords()).to.deep.equal([undefined]);
    // The page does not wait for the revocation.
    await eventually(async () =>
      expect(server.requests.at(-1)).to.deep.equal({
        line: 'POST /auth/provider/revoke',
        form: { client_id: 'app', token: 'refresh-1' },
      }),
    );
  });

  it('logs out even if the relay does not answer', async () => {
    const login = await logIn();
    server.next['/auth/provider/revoke'] = [new TypeError('Failed to fetch')];
    await login.logout();
    expect(login.session).to.equal(null);
  });

  it('tells listeners once when it is ready, and at every change', async () => {
    const login = open();
    const seen: unknown[] = [];
    login.onChange((session) => seen.push(session?.accessToken));
    await login.ready;
    await login.user();
    const after = load(`${home}?${await start(login)}`);
    const stop = after.onChange((session) => seen.push(session?.accessToken));
    await after.ready;
    await after.logout();
    stop();
    await after.logout();
    expect(seen).to.deep.equal([undefined, 'access-1', undefined]);
  });

  it('shares the login with other tabs, without another call', async () => {
    const first = await logIn();
    const second = open();
    await second.ready;
    server.next['/api/user'] = [{ status: 401 }];
    await second.user();
    expect(await first.user()).to.deep.equal({ login: 'ada' });
    const out = new Promise((resolve) => {
      first.onChange((session) => session === null && resolve(null));
    });
    await second.logout();
    await out;
    expect(first.session).to.equal(null);
  });

  it('redeems the code once if it is created twice, as in StrictMode', async () => {
    const response = await start(open());
    leave();
    page.href = `${home}?${response}`;
    const [first, second] = [open(), open()];
    await Promise.all([first.ready, second.ready]);
    const codes = server.requests.filter(({ form }) => form['code'] !== undefined);
    expect(codes).to.have.lengthOf(1);
    for (const login of [first, second]) {
      expect(await login.user()).to.deep.equal({ login: 'ada' });
    }
  });

  it('looks for a new login when the back button restores the page', async () => {
    const login = await logIn();
    const changed = new Promise<unknown>((resolve) => login.onChange(resolve));
    restoreFromCache();
    expect(await changed).to.include({ accessToken: 'access-2' });
  });

  it('refuses to return to another site', async () => {
    const login = open();
    for (const returnTo of [
      'https://attacker.example.com/',
      'https://app.example.com.attacker.example.com/',
      'javascript:alert(1)',
      'blob:https://app.example.com/1',
      'https://user@app.example.com/',
      '//attacker.example.com',
    ]) {
      expect(await failureOf(login.login({ returnTo }))).to.include({ code: 'return_to_invalid' });
    }
    expect(page.visits).to.deep.equal([]);
  });

  describe('in a popup', () => {
    let popup: FakePage;
    beforeEach(() => {
      popup = new FakePage('about:blank');
      page.popup = popup;
    });

    /** Opens the popup, and returns the address that the relay gives it in the end. */
    async function openPopup(login: Login): Promise<[done: Promise<void>, address: string]> {
      const done = login.login({ popup: true });
      done.catch(() => {});
      await hasLeft(popup, 1);
      const state = popup.start.get('state') ?? '';
      return [done, `${home}?${new URLSearchParams({ code: 'code', state, iss: relay })}`];
    }

    it('logs in the page that opened it, and closes', async () => {
      const login = open();
      const [done, address] = await openPopup(login);
      popup.href = address;
      show(popup);
      await open().ready;
      await done;
      expect(login.session?.accessToken).to.equal('access-1');
      expect(popup).to.include({ isClosed: true, href: home });
      expect(page).to.deep.include({ isClosed: false, visits: [] });
    });

    it('tells the page why the login failed, and closes', async () => {
      const login = open();
      const [done, address] = await openPopup(login);
      popup.href = `${address}&error=access_denied&error_description=No.&request_id=request-9`;
      show(popup);
      await failureOf(open().ready);
      expect(await failureOf(done)).to.include({
        code: 'access_denied',
        message: 'No.',
        requestId: 'request-9',
      });
      expect(popup.isClosed).to.equal(true);
    });

    it('goes to the login as usual if the browser blocks the popup', async () => {
      page.popup = null;
      const login = open();
      login.login({ popup: true });
      await hasLeft(page, 1);
      const state = page.start.get('state') ?? '';
      const after = load(`${home}?${new URLSearchParams({ code: 'code', state, iss: relay })}`);
      await after.ready;
      expect(after.session?.accessToken).to.equal('access-1');
      expect(page.isClosed).to.equal(false);
    });
  });
});
