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
import { expectSessionFailure, SessionPage, sessionOf, sessionOrigin } from '../harness/login/session-page.ts';
import { metadata, openIdPath } from '../harness/provider/metadata.ts';
import { serve } from '../harness/provider/serve.ts';
import { listening, keyFile as newKeyFile, Relay, secretFile } from '../harness/relay/relay-under-test.ts';
import { eventually } from '../harness/system/eventually.ts';

/** A provider at which every code and token is valid. `calls` are the paths of the calls to it. */
async function startProvider() {
  const calls: string[] = [];
  const moved: { to?: string | undefined } = {};
  const held = new Map<string, Promise<void>>();
  const { port, close } = await serve(async ({ url = '' }, response) => {
    const issuer = `http://127.0.0.1:${port}`;
    if (url !== openIdPath) calls.push(url);
    await held.get(url);
    response.setHeader('Content-Type', 'application/json');
    if (url === openIdPath) {
      const to = moved.to ?? issuer;
      const endpoints = { token_endpoint: `${to}/token`, revocation_endpoint: `${to}/revoke` };
      response.end(JSON.stringify({ ...metadata(issuer), ...endpoints }));
      return;
    }
    const tokens = { access_token: canary('token'), refresh_token: canary('token') };
    response.end(JSON.stringify({ ...tokens, token_type: 'bearer', login: 'octocat' }));
  });
  /** Answers this path no more. Returns a function that answers it again. */
  const hold = (path: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held.set(path, promise);
    return () => {
      held.delete(path);
      resolve();
    };
  };
  return { origin: `http://127.0.0.1:${port}`, calls, moved, hold, close };
}

type Provider = Awaited<ReturnType<typeof startProvider>>;

const sessionStart = '/auth/staff/app';
const { parameters, codeVerifier } = oauthStart({ client_id: 'spa' });

/** The configuration of a relay at one provider, with these settings. */
const configWith = (staff: string, keyFile: string) => `port: 0
base-url: https://relay.example
key-file: ${keyFile}
refresh-tokens: bearer
providers:
  staff: { ${staff}, client-id: login-relay, client-secret: s }
front-ends:
  spa: { origin: https://app.example }
  app: { origin: ${sessionOrigin}, token-delivery: session }
`;

async function startRelay(config: string): Promise<Relay> {
  const { relay, port } = await listening({ flags: { config } });
  return new Relay(relay, port);
}

const anybody = { authorize: () => 'any' };
const pageAt = (relay: () => Relay) => new SessionPage(relay, anybody);

/** The parameters that redeem the code of a login that ends now. */
async function redemptionAt(relay: Relay): Promise<Parameters> {
  const browser = new FakeBrowser(() => ({ port: relay.port }));
  const callback = await browser.consent(anybody, `/auth/staff?${encoded(parameters)}`);
  const page = expectRedirect(await browser.open(callback));
  const code = page.searchParams.get('code') ?? '';
  return { grant_type: 'authorization_code', code, code_verifier: codeVerifier };
}

const askAt = (relay: Relay, request: Parameters, endpoint = 'token') =>
  requestToken(relay, { client_id: 'spa', ...request }, [], { path: `/auth/staff/${endpoint}` });

/** How a provider of the same name and client identifier moves: its settings at one of two providers. */
const moves: Readonly<Record<string, (one: Provider, now: Provider) => string>> = {
  'to another host': (_, { origin }) =>
    `authorize-url: '${origin}/authorize', token-url: '${origin}/token', user-url: '${origin}/user', revocation-url: '${origin}/revoke'`,
  'to another tenant of its host'(one, now) {
    const tenant = now === one ? 'customers' : 'staff';
    return `authorize-url: '${one.origin}/authorize', token-url: '${one.origin}/${tenant}/token', user-url: '${one.origin}/user'`;
  },
  'to another issuer': (_, { origin }) => `issuer: '${origin}'`,
  'its token endpoint, as its metadata say'(one, { origin }) {
    one.moved.to = origin;
    return `issuer: '${one.origin}', user-url: '${origin}/user'`;
  },
};

for (const [move, settingsAt] of Object.entries(moves)) {
  it(`a provider that moves ${move} gets no code, refresh token or session of before`, async () => {
    const [one, other] = await Promise.all([startProvider(), startProvider()]);
    const keyFile = await newKeyFile();
    const textOf = (now: Provider) => configWith(settingsAt(one, now), keyFile);
    const config = await secretFile(textOf(one));
    const relay = await startRelay(config);
    const moveTo = async (now: Provider) => {
      await writeFile(config, textOf(now), { mode: 0o600 });
      expect((await relay.reload())['msg']).to.match(/^reloaded/);
    };
    const browser = new FakeBrowser(() => relay);
    const callback = await browser.consent(anybody, '/auth/staff');
    const redemption = await redemptionAt(relay);
    const answer = await askAt(relay, await redemptionAt(relay));
    const { refresh_token: token } = JSON.parse(`${answer.body}`);
    const refresh = { grant_type: 'refresh_token', refresh_token: token };
    const page = pageAt(() => relay);
    await page.logIn(sessionStart);
    sessionOf(await page.describe());

    await moveTo(other);
    other.calls.length = 0;
    expectError(await browser.open(callback, { headers: [] }), 400);
    expectOAuthError(await askAt(relay, redemption), 'invalid_grant');
    expectOAuthError(await askAt(relay, refresh), 'invalid_grant');
    expectOAuthError(await askAt(relay, { token }, 'revoke'), 'invalid_grant');
    expectSessionFailure(await page.describe(), 'session_missing');
    expectSessionFailure(await page.refresh(), 'session_missing');
    expect((await page.lookUp()).status).to.equal(401);
    expect((await page.logOut({ cookie: page.cookie })).status).to.equal(200);
    expect(other.calls, 'calls with what belongs to the other provider').to.deep.equal([]);
    await page.logIn(sessionStart);
    sessionOf(await page.refresh());
    expect((await page.lookUp()).status).to.equal(200);

    await moveTo(one);
    expect((await askAt(relay, refresh)).status, 'the refresh token is good again').to.equal(200);
    await relay.stop();
    await Promise.all([one.close(), other.close()]);
  });
}

describe('a provider whose metadata move its endpoints during a request', () => {
  let relay: Relay;
  let one: Provider;
  let other: Provider;
  let page: SessionPage;
  let move: () => Promise<void>;

  before('start the relay and two providers', async () => {
    [one, other] = await Promise.all([startProvider(), startProvider()]);
    const config = configWith(`issuer: '${one.origin}'`, await newKeyFile());
    relay = await startRelay(await secretFile(config));
  });
  beforeEach('read metadata that come later', async () => {
    one.moved.to = undefined;
    await relay.reload();
    page = pageAt(() => relay);
    const answerMetadata = one.hold(openIdPath);
    await relay.reload();
    other.calls.length = 0;
    const seen = relay.process.logLines.length;
    move = async () => {
      one.moved.to = other.origin;
      answerMetadata();
      const isDiscovery = ({ msg }: { msg?: unknown }) => msg === 'provider discovery';
      await relay.process.output(() => relay.process.logLines.slice(seen).find(isDiscovery));
    };
  });
  after(async () => {
    await relay.stop();
    await Promise.all([one.close(), other.close()]);
  });

  /** Lets the provider move while its token endpoint keeps a request waiting. */
  async function moveDuring<Result>(request: () => Promise<Result>): Promise<Result> {
    one.calls.length = 0;
    const answerCall = one.hold('/token');
    const result = request();
    await eventually(async () => expect(one.calls).to.include('/token'));
    await move();
    answerCall();
    return await result;
  }

  it('gets no refresh of a session that began before', async () => {
    await moveDuring(() => page.logIn(sessionStart));
    expectSessionFailure(await page.refresh(), 'session_missing');
    expect(other.calls).to.deep.equal([]);
  });

  it('gets no refresh token that was redeemed before', async () => {
    const redemption = await redemptionAt(relay);
    const answer = await moveDuring(() => askAt(relay, redemption));
    const { refresh_token } = JSON.parse(`${answer.body}`);
    const refresh = { grant_type: 'refresh_token', refresh_token };
    expectOAuthError(await askAt(relay, refresh), 'invalid_grant');
    expect(other.calls).to.deep.equal([]);
  });

  it('gets no token of a log-out that waits for a refresh, because the earlier endpoint revokes it', async () => {
    await page.logIn(sessionStart);
    const { cookie } = page;
    one.calls.length = 0;
    const answerCall = one.hold('/token');
    const refresh = page.refresh({ cookie });
    await eventually(async () => expect(one.calls).to.include('/token'));
    const logOut = page.logOut({ cookie });
    await eventually(async () => expect((await page.describe({ cookie })).status).to.equal(401));
    await move();
    answerCall();
    await Promise.all([refresh, logOut]);
    expect(one.calls).to.include('/revoke');
    expect(other.calls).to.deep.equal([]);
  });
});

describe('a relay that starts again while the issuer is down', () => {
  it('ends no login or session, clears no cookie, and goes on once the issuer answers', async () => {
    const provider = await startProvider();
    const text = configWith(`issuer: '${provider.origin}'`, await newKeyFile());
    const config = await secretFile(text);
    let relay = await startRelay(config);
    const page = pageAt(() => relay);
    await page.logIn(sessionStart);
    const { cookie } = page;
    const browser = new FakeBrowser(() => relay);
    const callback = await browser.consent(anybody, '/auth/staff');
    const answerMetadata = provider.hold(openIdPath);
    await relay.stop();
    relay = await startRelay(config);
    const refused = await browser.open(callback);
    expect(refused.status).to.equal(503);
    expect(refused.headers).not.to.have.property('set-cookie');
    for (const ask of [page.describe, page.refresh]) {
      expectSessionFailure(await ask.call(page), 'provider_undiscovered');
    }
    expect((await page.lookUp()).status).to.equal(503);
    expect(page.cookie).to.equal(cookie);
    answerMetadata();
    await eventually(async () => sessionOf(await page.describe()));
    sessionOf(await page.refresh());
    expectRedirect(await browser.open(callback));
    await relay.stop();
    await provider.close();
  });
});
