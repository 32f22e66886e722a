import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { setCookies } from '../harness/browser/cookie-jar.ts';
import type { Answer } from '../harness/client/http-client.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import { expectFailure } from '../harness/expect/failures.ts';
import {
  expectSessionFailure,
  SessionPage,
  sessionCookie,
  sessionFlags,
  sessionOf,
  sessionOrigin,
} from '../harness/login/session-page.ts';
import { json, answer as reply } from '../harness/provider/provider-behaviours.ts';
import type { RefreshingProvider } from '../harness/provider/refreshing-provider.ts';
import { useRefreshingRelay } from '../harness/relay/refreshing-relay.ts';
import type { Flags } from '../harness/relay/relay-process.ts';
import { keyLine, loginPath, type Relay, userPath } from '../harness/relay/relay-under-test.ts';

const nextKey = 'the next line of a key file with 32 characters or more';

describe('a front end with sessions', () => {
  const { startRelay, underTest } = useRefreshingRelay(async () => ({
    ...(await sessionFlags()),
    'error-delivery': 'page',
  }));
  let provider: RefreshingProvider;
  let relay: Relay;
  let page: SessionPage;

  before(() => {
    ({ provider, relay } = underTest());
  });
  beforeEach(() => {
    page = new SessionPage(() => relay, provider);
  });

  /** A further relay at this provider, with other flags. */
  const relayWith = async (flags: Flags) =>
    await startRelay({
      client: provider.registration,
      flags: { ...(await sessionFlags()), ...flags },
    });

  it('logs in, and the page gets a cookie, and nothing in its address', async () => {
    const answer = await page.finishLogin();
    expect(answer.status).to.equal(307);
    expect(answer.headers.location).to.equal(`${sessionOrigin}/`);
    expect(answer.body.toString()).to.equal('');
    const cookie = setCookies(answer).find(({ name }) => name === sessionCookie);
    expect(cookie?.attributes).to.include.members(['HttpOnly', 'Secure', 'SameSite=Strict']);
    expect(Number(cookie?.maxAge)).to.be.within(86_300, 86_400);
  });

  it('counts behind a gate whose credentials the browser sends, which never reach the provider', async () => {
    await page.logIn();
    const asked = provider.calls.length;
    const password = canary('secret');
    const gates = [`Basic ${Buffer.from(`ada:${password}`).toString('base64')}`, `Negotiate ${password}`];
    for (const gate of gates) {
      const headers: [string, string][] = [['Authorization', gate]];
      expect((await page.lookUp({ headers })).status).to.equal(200);
      expect((await page.describe({ headers })).status).to.equal(200);
      expectFailure(await new SessionPage(() => relay, provider).lookUp({ headers }), 'credentials_missing');
    }
    const calls = provider.calls.slice(asked);
    expect(calls.map(({ endpoint }) => endpoint)).to.deep.equal(['user', 'user']);
    expect(JSON.stringify(calls)).to.not.contain(password);
  });

  it('is told which provider its session is of, and for how long', async () => {
    await page.logIn();
    const { expires_in: expiresIn, ...session } = sessionOf(await page.describe());
    expect(session).to.deep.equal({ provider: 'provider', renewable: true });
    expect(expiresIn).to.be.within(28_700, 28_800);
    expect(sessionOf(await page.send('/auth/session?client_id=app'))).to.include(session);
  });

  it('is not told an end that the provider does not tell', async () => {
    provider.mood.expiresIn = undefined;
    await page.logIn();
    const session = { provider: 'provider', renewable: true };
    expect(sessionOf(await page.describe())).to.deep.equal(session);
  });

  it('looks up its user by the cookie', async () => {
    await page.logIn();
    const answer = await page.lookUp();
    expect(answer.status).to.equal(200);
    expect(JSON.parse(`${answer.body}`)).to.have.property('login');
    const head = await page.send(userPath, 'HEAD');
    expect([head.status, head.body.length]).to.deep.equal([200, 0]);
    expect(setCookies(answer)).to.deep.equal([]);
  });

  it('gets the contract’s answer to a lookup without cookie and without Authorization', async () => {
    expectFailure(await page.lookUp(), 'credentials_missing');
    expectFailure(await relay.get(userPath), 'credentials_missing');
  });

  it('sends the provider no token that would break the request', async () => {
    for (const token of ['a\r\nX-Evil: 1', 'a b', 't\u{f6}ken', 't\u{20ac}ken']) {
      provider.onToken = json({ access_token: token, token_type: 'bearer' });
      await page.logIn();
      provider.calls.length = 0;
      expectFailure(await page.lookUp(), 'token_malformed');
      expect(provider.calls).to.deep.equal([]);
    }
  });

  it('uses the token in Authorization rather than the cookie', async () => {
    await page.logIn();
    const answer = await page.lookUp({ headers: [['Authorization', 'Bearer other']] });
    expectFailure(answer, 'token_invalid');
    expect(provider.credentials('user')).to.deep.equal(['other']);
  });

  it('keeps its session when the provider refuses the access token', async () => {
    await page.logIn();
    provider.revokeAll();
    const answer = await page.lookUp();
    expectFailure(answer, 'token_invalid');
    expect(answer.headers['www-authenticate']).to.equal('Bearer error="invalid_token"');
    expect(setCookies(answer)).to.deep.equal([]);
    sessionOf(await page.describe());
  });

  for (const [status, code, answered] of [
    [403, 'lookup_forbidden', 502],
    [500, 'lookup_failed', 502],
    [429, 'lookup_postponed', 503],
    [503, 'lookup_postponed', 503],
  ] as const) {
    it(`keeps its session while the user endpoint answers ${status}`, async () => {
      await page.logIn();
      provider.onUser = reply(status, '{}', { 'Retry-After': '7' });
      const answer = await page.lookUp();
      expect(expectError(answer, answered)).to.equal(new RelayError(code).detail);
      expect(answer.headers['retry-after']).to.equal(answered === 503 ? '7' : undefined);
      expect(answer.headers).not.to.have.property('www-authenticate');
      // After 403, the session was renewed once. Nothing ends it.
      const isRenewed = setCookies(answer).some(({ name, maxAge }) => name === sessionCookie && Number(maxAge) > 0);
      expect(isRenewed).to.equal(status === 403);
      provider.forget();
      expect((await page.lookUp()).status).to.equal(200);
    });
  }

  it('returns to the page that the start names', async () => {
    const start = `${loginPath}?${new URLSearchParams({ return_to: '/profile?tab=2#top' })}`;
    expect((await page.logIn(start)).href).to.equal(`${sessionOrigin}/profile?tab=2#top`);
  });

  it('keeps its session while the key file changes, and loses it with the old secret', async () => {
    const flags = await sessionFlags();
    const changing = await relayWith({ ...provider.flags, ...flags });
    const lines = async (...secrets: string[]) => {
      await writeFile(`${flags['key-file']}`, secrets.join('\n'), { mode: 0o600 });
      expect((await changing.reload())['msg']).to.equal('reloaded: files have changed');
    };
    const early = new SessionPage(() => changing, provider);
    await early.logIn();
    await lines(keyLine, nextKey);
    await lines(nextKey, keyLine);
    const refreshed = new SessionPage(() => changing, provider);
    for (const [name, value] of early.browser.cookies) refreshed.browser.cookies.set(name, value);
    sessionOf(await refreshed.refresh());
    sessionOf(await early.describe());
    await lines(nextKey);
    sessionOf(await refreshed.describe());
    expectSessionFailure(await early.describe(), 'session_missing');
  });

  it('asks the provider for a refresh token, whatever pages get', async () => {
    const atGoogle = await relayWith({ provider: 'google', 'refresh-tokens': 'off' });
    const { browser } = new SessionPage(() => atGoogle, provider);
    const request = expectRedirect(await browser.open(loginPath));
    expect(request.searchParams.get('access_type')).to.equal('offline');
  });

  it('returns to the page, not with the state of a contract’s front end', async () => {
    expect((await page.logIn(`${loginPath}?state=own`)).href).to.equal(`${sessionOrigin}/`);
  });

  it('returns a failure by default, with its own state, so that the page knows its own login', async () => {
    const redirecting = await relayWith(provider.flags);
    const { browser } = new SessionPage(() => redirecting, provider);
    const request = expectRedirect(await browser.open(`${loginPath}?state=own`));
    const state = request.searchParams.get('state') ?? '';
    const denied = new URLSearchParams({ error: 'access_denied', state });
    const answer = await browser.open(`${loginPath}/callback?${denied}`);
    expect(failureIn(answer)).to.deep.equal({ error: 'access_denied', own: 'own' });
    const forgetful = new SessionPage(() => redirecting, provider).browser;
    const unknown = await forgetful.open(`${loginPath}/callback?${denied}`);
    expect(failureIn(unknown)).to.deep.equal({ error: 'state_unknown', own: 'own' });
  });

  it('also returns a failure of the start with the state', async () => {
    const undiscovered = await relayWith({ issuer: provider.origin });
    const { browser } = new SessionPage(() => undiscovered, provider);
    const answer = await browser.open(`${loginPath}?state=own`);
    expect(failureIn(answer)).to.deep.equal({ error: 'provider_undiscovered', own: 'own' });
    const outside = await browser.open(`${loginPath}?state=own&return_to=https://evil.example/`);
    expect(failureIn(outside)).to.deep.equal({ error: 'return_to_invalid', own: 'own' });
  });

  function failureIn(answer: Answer) {
    const { error, state: own } = Object.fromEntries(expectRedirect(answer).searchParams);
    return { error, own };
  }

  describe('whose session an attacker plants', () => {
    let attacker: SessionPage;
    let victim: SessionPage;
    beforeEach('both log in', async () => {
      attacker = page;
      victim = new SessionPage(() => relay, provider);
      await attacker.logIn();
      await victim.logIn();
      provider.calls.length = 0;
    });

    /** The session of a page, without the name of its cookie. */
    const valueIn = (page: SessionPage) => page.browser.cookies.get(sessionCookie) ?? '';

    it('ignores a session under a name without the prefix, because a sibling domain can set it', async () => {
      for (const name of ['lr_session_app', '__Host-lr_session_app', '__Secure-lr_session_app']) {
        const planted = `${name}=${valueIn(attacker)}`;
        const before = provider.calls.length;
        expectSessionFailure(await victim.describe({ cookie: planted }), 'session_missing');
        expectSessionFailure(await victim.refresh({ cookie: planted }), 'session_missing');
        expect((await victim.lookUp({ cookie: planted })).status).to.equal(401);
        expect(provider.calls).to.have.lengthOf(before);
        for (const both of [`${planted}; ${victim.cookie}`, `${victim.cookie}; ${planted}`]) {
          sessionOf(await victim.describe({ cookie: both }));
          await victim.lookUp({ cookie: both });
        }
      }
      const used = new Set(provider.credentials('user'));
      expect(used.size).to.equal(1);
      await victim.lookUp();
      expect(new Set(provider.credentials('user'))).to.deep.equal(used);
    });

    it('loses it at the next login of the victim', async () => {
      victim.browser.cookies.set(sessionCookie, valueIn(attacker));
      victim.browser.cookies.set(`${sessionCookie}.1`, 'left');
      await victim.logIn();
      await victim.lookUp();
      await attacker.lookUp();
      const [ofVictim, ofAttacker] = provider.credentials('user');
      expect(ofVictim).not.to.equal(ofAttacker);
      expect(victim.cookie).not.to.contain('.1=');
    });
  });
});
