import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import {
  encoded,
  expectOAuthError,
  oauthStart,
  type Parameters,
  requestToken,
} from '../harness/login/oauth-front-end.ts';
import {
  expectSessionFailure,
  SessionPage,
  sessionOf,
  sessionOrigin,
} from '../harness/login/session-page.ts';
import { metadata, openIdPath } from '../harness/provider/metadata.ts';
import { serve } from '../harness/provider/serve.ts';
import { listening, Relay, secretFile } from '../harness/relay/relay-under-test.ts';

/** A provider at which every code and token is valid. `calls` are the paths of the calls to it. */
async function startProvider() {
  const calls: string[] = [];
  const moved: { to?: string | undefined } = {};
  const { port, close } = await serve((request, response) => {
    const issuer = `http://127.0.0.1:${port}`;
    response.setHeader('Content-Type', 'application/json');
    if (request.url === openIdPath) {
      const endpoints = moved.to ? { token_endpoint: `${moved.to}/token` } : {};
      response.end(JSON.stringify({ ...metadata(issuer), ...endpoints }));
      return;
    }
    calls.push(request.url ?? '');
    const tokens = { access_token: canary('token'), refresh_token: canary('token') };
    response.end(JSON.stringify({ ...tokens, token_type: 'bearer', login: 'octocat' }));
  });
  return { origin: `http://127.0.0.1:${port}`, calls, moved, close };
}

type Provider = Awaited<ReturnType<typeof startProvider>>;

/** How a provider of the same name and client identifier moves: its settings at one of two providers. */
const moves: Readonly<Record<string, (one: Provider, now: Provider) => string>> = {
  'to another host': (_, { origin }) =>
    `authorize-url: '${origin}/authorize', token-url: '${origin}/token', user-url: '${origin}/user', revocation-url: '${origin}/revoke'`,
  'to another issuer': (_, { origin }) => `issuer: '${origin}'`,
  'its token endpoint, as its metadata say'(one, { origin }) {
    one.moved.to = origin;
    return `issuer: '${one.origin}', user-url: '${origin}/user'`;
  },
};

const newOrigin = 'https://new.relay.example';

for (const [move, settingsAt] of Object.entries(moves)) {
  describe(`a provider that moves ${move}`, () => {
    let relay: Relay;
    let one: Provider;
    let other: Provider;
    let config = '';
    let keyFile = '';

    const textOf = (now: Provider, origin: string) => `port: 0
base-url: https://relay.example
key-file: ${keyFile}
refresh-tokens: bearer
providers:
  staff: { ${settingsAt(one, now)}, client-id: login-relay, client-secret: s }
front-ends:
  spa: { origin: https://app.example }
  app: { origin: ${origin}, token-delivery: session }
`;

    async function moveTo(now: Provider, origin = sessionOrigin): Promise<void> {
      await writeFile(config, textOf(now, origin), { mode: 0o600 });
      expect((await relay.reload())['msg']).to.match(/^reloaded/);
    }

    before('start the relay and two providers', async () => {
      [one, other] = await Promise.all([startProvider(), startProvider()]);
      keyFile = await secretFile('the line of a key file with 32 characters or more');
      config = await secretFile(textOf(one, sessionOrigin));
      const started = await listening({ flags: { config } });
      relay = new Relay(started.relay, started.port);
    });
    beforeEach(async () => {
      await moveTo(one);
      other.calls.length = 0;
    });
    after(async () => {
      await relay.stop();
      await Promise.all([one.close(), other.close()]);
    });

    const browserOf = () => new FakeBrowser(() => ({ port: relay.port }));
    const newPage = () => new SessionPage(() => relay, { authorize: () => 'any' });
    const sessionStart = '/auth/staff/app';
    const { parameters, codeVerifier } = oauthStart({ client_id: 'spa' });

    /** The callback of a login that starts now. */
    async function callbackOf(browser: FakeBrowser, start = '/auth/staff'): Promise<string> {
      const request = expectRedirect(await browser.open(start));
      const state = request.searchParams.get('state') ?? '';
      return `/auth/staff/callback?${encoded({ code: 'any', state })}`;
    }

    async function codeOf(): Promise<Parameters> {
      const browser = browserOf();
      const callback = await callbackOf(browser, `/auth/staff?${encoded(parameters)}`);
      const page = expectRedirect(await browser.open(callback));
      const code = page.searchParams.get('code') ?? '';
      return { grant_type: 'authorization_code', code, code_verifier: codeVerifier };
    }

    const ask = (request: Parameters, endpoint = 'token') =>
      requestToken(relay, { client_id: 'spa', ...request }, [], {
        path: `/auth/staff/${endpoint}`,
      });

    it('gets no code of a login that started before', async () => {
      const browser = browserOf();
      const callback = await callbackOf(browser);
      await moveTo(other);
      expectError(await browser.open(callback, { headers: [] }), 400);
      expect(other.calls).to.deep.equal([]);
    });

    it('finishes the login if it is where it was again', async () => {
      const browser = browserOf();
      const callback = await callbackOf(browser);
      await moveTo(other);
      await moveTo(one);
      const page = expectRedirect(await browser.open(callback));
      expect(page.searchParams.has('access_token')).to.equal(true);
    });

    it('gets no code that was delivered before', async () => {
      const redemption = await codeOf();
      await moveTo(other);
      expectOAuthError(await ask(redemption), 'invalid_grant');
      expect(other.calls).to.deep.equal([]);
    });

    it('gets no refresh token of before, neither to renew nor to revoke it', async () => {
      const answer = await ask(await codeOf());
      expect(answer.status).to.equal(200);
      const { refresh_token: token } = JSON.parse(`${answer.body}`);
      await moveTo(other);
      const refresh = { grant_type: 'refresh_token', refresh_token: token };
      expectOAuthError(await ask(refresh), 'invalid_grant');
      expectOAuthError(await ask({ token }, 'revoke'), 'invalid_grant');
      expect(other.calls).to.deep.equal([]);
      await moveTo(one);
      expect((await ask(refresh)).status).to.equal(200);
    });

    it('gets no token of a session of before, and the person can log in there', async () => {
      const page = newPage();
      await page.logIn(sessionStart);
      sessionOf(await page.describe());
      await moveTo(other);
      expectSessionFailure(await page.describe(), 'session_missing');
      expectSessionFailure(await page.refresh(), 'session_missing');
      expect((await page.lookUp()).status).to.equal(401);
      const copy = page.cookie;
      expect((await page.logOut({ cookie: copy })).status).to.equal(200);
      expect(other.calls).to.deep.equal([]);
      await page.logIn(sessionStart);
      sessionOf(await page.refresh());
      expect((await page.lookUp()).status).to.equal(200);
    });

    it('opens no session for another origin of its front end, and the person can log in there', async () => {
      const page = newPage();
      await page.logIn(sessionStart);
      await moveTo(one, newOrigin);
      one.calls.length = 0;
      for (const ask of [page.describe, page.refresh, page.lookUp]) {
        const { status } = await ask.call(page, { origin: newOrigin });
        expect(status).to.equal(401);
        expect((await ask.call(page)).status).to.equal(403);
      }
      expect(one.calls).to.deep.equal([]);
      expect((await page.logIn(sessionStart)).origin).to.equal(newOrigin);
      sessionOf(await page.describe({ origin: newOrigin }));
    });
  });
}
