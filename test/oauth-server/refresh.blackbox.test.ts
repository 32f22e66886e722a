import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { newProofKey, type ProofKey } from '../harness/client/proof.ts';
import { expectOAuthError, logInTo, type Parameters, redemption } from '../harness/login/oauth-front-end.ts';
import { OAuthPage, type PageRequest, type Tokens, tokensOf } from '../harness/login/oauth-page.ts';
import { sealRefreshToken } from '../harness/login/sealed-grants.ts';
import type { RefreshingProvider } from '../harness/provider/refreshing-provider.ts';
import { useRefreshingRelay } from '../harness/relay/refreshing-relay.ts';
import type { Flags } from '../harness/relay/relay-process.ts';
import {
  frontendOrigin,
  keyLine,
  keyFile as newKeyFile,
  type Relay,
  secretFile,
} from '../harness/relay/relay-under-test.ts';

const previousLine = 'the previous line of a key file, of 32 characters';

describe('the refresh of a login', () => {
  const { startRelay, underTest } = useRefreshingRelay(async () => {
    keyFile = await secretFile(`${keyLine}\n${previousLine}`);
    return { 'key-file': keyFile };
  });
  let keyFile: string;
  let provider: RefreshingProvider;
  let relay: Relay;
  let key: ProofKey;
  let page: OAuthPage;
  let tokens: Tokens;

  before(async () => {
    ({ provider, relay } = underTest());
    key = await newProofKey();
  });
  beforeEach('log in', async () => {
    page = new OAuthPage(relay, provider, key);
    tokens = await page.logIn();
    provider.forget();
  });

  function expectNoCall(): void {
    expect(provider.calls).to.deep.equal([]);
  }

  it('gives a new access token and a new refresh token', async () => {
    const renewed = tokensOf(await page.refresh(tokens.refreshToken));
    expect(renewed.accessToken).not.to.equal(tokens.accessToken);
    expect(renewed.refreshToken).not.to.equal(tokens.refreshToken);
    expect(renewed.expiresIn).to.be.within(1, 28_800);
    expect(renewed.scope).to.equal('read write');
    expect(provider.accepts(renewed.accessToken)).to.equal(true);
    expect(provider.calls).to.have.lengthOf(1);
  });

  it('is in the log with its grant type', async () => {
    tokensOf(await page.refresh(tokens.refreshToken));
    const isRefresh = (line: object) => 'grant' in line && line.grant === 'refresh_token';
    const logged = await relay.process.logLine(isRefresh);
    expect(logged).to.include({ route: '/auth/provider/token', outcome: 'ok', status: 200 });
  });

  describe('by many tabs at once', () => {
    it('gives the same tokens later to a page that closed the connection', async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      provider.mood.patience = promise;
      const hangUp = new AbortController();
      const arrived = provider.arrivals(1);
      const first = page.refresh(tokens.refreshToken, { signal: hangUp.signal });
      await arrived;
      hangUp.abort();
      expect(await first.catch(() => 'hung up')).to.equal('hung up');
      resolve();
      tokensOf(await page.refresh(tokens.refreshToken));
      expect(provider.calls).to.have.lengthOf(1);
    });

    it('gives a straggler the tokens even after a reload of the configuration', async () => {
      const first = tokensOf(await page.refresh(tokens.refreshToken));
      await writeFile(keyFile, `${previousLine}\n${keyLine}`);
      expect(await relay.reload()).to.include({ msg: 'reloaded: files have changed' });
      const late = tokensOf(await page.refresh(tokens.refreshToken));
      expect(late.accessToken).to.equal(first.accessToken);
    });
  });

  describe('without the right proof', () => {
    let other: ProofKey;
    before('make another key', async () => {
      other = await newProofKey();
    });

    const invalid = 'invalid_dpop_proof';
    for (const [what, request, error] of [
      ['no proof', () => ({ proof: 'none' }), invalid],
      ['a proof of another key', () => ({ proof: { by: other } }), 'invalid_grant'],
      ['two proofs', () => ({ headers: [['DPoP', 'x']] }), invalid],
      ['an empty proof', () => ({ proof: 'none', headers: [['DPoP', '']] }), invalid],
    ] as [what: string, request: () => PageRequest, error: string][]) {
      it(`is refused with ${what}, and the refresh token stays valid`, async () => {
        expectOAuthError(await page.refresh(tokens.refreshToken, request()), error);
        expectNoCall();
        tokensOf(await page.refresh(tokens.refreshToken));
      });
    }
  });

  describe('again and again', () => {
    /**
     * The answers to a request that is sent that many times, each time with a new proof, and then twice more with the
     * same proof.
     */
    async function answersTo(parameters: Parameters, often: number) {
      const answers = [];
      for (let sent = 0; sent < often; sent += 10) {
        answers.push(...(await Promise.all(Array.from({ length: 10 }, () => page.request(parameters)))));
      }
      const same = { proof: { claims: { jti: 'the same' } } };
      const last = [await page.request(parameters, same), await page.request(parameters, same)];
      return { statuses: new Set(answers.map(({ status }) => status)), last: last.map(({ status }) => status) };
    }

    it('uses up no proof beyond the limit, because one login would fill the memory of all logins', async () => {
      const again = { grant_type: 'refresh_token', client_id: 'app', refresh_token: tokens.refreshToken };
      const { statuses, last } = await answersTo(again, 600);
      expect([...statuses]).to.deep.equal([200]);
      expect(last).to.deep.equal([429, 429]);
      expect(provider.calls).to.have.lengthOf.at.most(60);
    });

    it('and neither does the redemption of one code', async () => {
      const code = redemption(await logInTo(new FakeBrowser(() => relay), { provider }));
      const { statuses, last } = await answersTo(code, 120);
      expect([...statuses].sort()).to.deep.equal([200, 400]);
      expect(last).to.deep.equal([429, 429]);
    });
  });

  describe('without the nonce of the relay', () => {
    // The page sends the proof again as it is.
    const signedInAdvance = { claims: { nonce: undefined } };

    it('gets the nonce, without a call, and refreshes with the same token', async () => {
      const answer = await page.refresh(tokens.refreshToken, { proof: signedInAdvance });
      expectOAuthError(answer, 'use_dpop_nonce');
      expect(answer.headers['dpop-nonce']).to.match(/^[\w-]+$/);
      expect(`${answer.headers['access-control-expose-headers']}`.split(',')).to.include('DPoP-Nonce');
      expectNoCall();
      tokensOf(await page.refresh(tokens.refreshToken));
      expect(await relay.requestLine('nonce_required')).to.include({ level: 'info' });
    });

    it('redeems a code at once, also with a nonce of another time', async () => {
      for (const nonce of [undefined, 'old']) {
        const login = await logInTo(new FakeBrowser(() => relay), { provider });
        const answer = await page.request(redemption(login), { proof: { claims: { nonce } } });
        tokensOf(answer);
        expect(answer.headers['dpop-nonce']).to.match(/^[\w-]+$/);
      }
    });

    it('gets the next nonce with its tokens, and none with another failure', async () => {
      // So short that the result is not repeated.
      provider.mood.expiresIn = 60;
      const renewed = await page.refresh(tokens.refreshToken);
      expect(renewed.headers['dpop-nonce']).to.match(/^[\w-]+$/);
      provider.mood.trouble = 503;
      const { refreshToken } = tokensOf(renewed);
      // A library that reads a nonce there would send the request again, and hide the error.
      for (const answer of [await page.refresh(refreshToken), await page.refresh('unknown')]) {
        expect(answer.headers).not.to.have.property('dpop-nonce');
      }
    });

    it('gets no nonce at a page of another origin', async () => {
      const origin = 'https://evil.example';
      const answer = await page.refresh(tokens.refreshToken, { origin, proof: signedInAdvance });
      expectOAuthError(answer, 'invalid_request', 403);
      expect(answer.headers).not.to.have.property('dpop-nonce');
      expectNoCall();
    });
  });

  describe('with a wrong refresh token', () => {
    async function expectRefused(refreshToken: string, request?: PageRequest): Promise<void> {
      expectOAuthError(await page.refresh(refreshToken, request), 'invalid_grant');
      expectNoCall();
    }

    it('is refused with an access token', () => expectRefused(tokens.accessToken));

    const seconds = () => Math.floor(Date.now() / 1000);
    for (const [what, changes] of [
      ['of another registration', () => ({ registration: ['other', 'client-1'] as const })],
      ['of another front end', () => ({ frontEnd: `other ${frontendOrigin}` })],
      ['of this front end at another origin', () => ({ frontEnd: 'app https://former.example' })],
      ['of another key', () => ({ thumbprint: 'x'.repeat(43) })],
      ['of no key', () => ({ thumbprint: undefined })],
      ['that has expired', () => ({ endsAt: seconds() - 1 })],
      ['of a login of 31 days ago', () => ({ loggedInAt: seconds() - 31 * 86_400 })],
    ] as const) {
      it(`is refused with one ${what}`, async () => {
        const sealed = { thumbprint: key.thumbprint, ...changes() };
        await expectRefused(sealRefreshToken(provider, keyLine, sealed));
      });
    }

    it('accepts a refresh token that was sealed with the previous key', async () => {
      const sealed = sealRefreshToken(provider, previousLine, { thumbprint: key.thumbprint });
      expectOAuthError(await page.refresh(sealed), 'invalid_grant');
      expect(provider.calls).to.have.lengthOf(1);
    });

    for (const [what, refresh_token] of [
      ['no refresh token', undefined],
      ['an empty refresh token', ''],
      ['two refresh tokens', ['a', 'b']],
    ] as const) {
      it(`is refused with ${what}`, async () => {
        const parameters = { refresh_token };
        const answer = await page.refresh(tokens.refreshToken, { parameters });
        expectOAuthError(answer, 'invalid_request');
        expectNoCall();
      });
    }
  });

  it('with a scope narrows the access token, and the next refresh gives the whole scope again', async () => {
    const parameters = { scope: 'read' };
    const narrow = tokensOf(await page.refresh(tokens.refreshToken, { parameters }));
    expect(narrow.scope).to.equal('read');
    const whole = tokensOf(await page.refresh(narrow.refreshToken));
    expect(whole.scope).to.equal('read write');
    expect(provider.calls.map(({ scope }) => scope)).to.deep.equal(['read', undefined]);
  });

  describe('at a provider without refresh tokens', () => {
    async function logIn(expiresIn: number | undefined): Promise<Tokens> {
      Object.assign(provider.mood, { rotation: 'none', expiresIn });
      const given = await page.logIn();
      provider.calls.length = 0;
      return given;
    }

    it('gives the same access token with its remaining seconds', async () => {
      const given = await logIn(100);
      const again = tokensOf(await page.refresh(given.refreshToken));
      expect(again.accessToken).to.equal(given.accessToken);
      expect(again.scope).to.equal('read write');
      expect(again.expiresIn).to.be.within(40, 100);
      const once = tokensOf(await page.refresh(again.refreshToken));
      expect(once.accessToken).to.equal(given.accessToken);
      expectNoCall();
    });

    it('also needs the proof', async () => {
      const { refreshToken } = await logIn(100);
      expectOAuthError(await page.refresh(refreshToken, { proof: 'none' }), 'invalid_dpop_proof');
    });
  });

  /** A further relay at the provider. */
  const relayWith = async (flags: Flags) =>
    await startRelay({ client: provider.registration, flags: { ...provider.flags, ...flags } });

  it('is off with --refresh-tokens off, so that no refresh token is issued or accepted', async () => {
    const flags = { 'refresh-tokens': 'off', 'key-file': await newKeyFile() };
    const other = new OAuthPage(await relayWith(flags), provider, key);
    expect((await other.logIn()).refreshToken).to.equal('');
    const sealed = sealRefreshToken(provider, keyLine, { thumbprint: key.thumbprint });
    expectOAuthError(await other.refresh(sealed), 'unsupported_grant_type');
  });

  it('is off without a key file, beyond this machine', async () => {
    const other = new OAuthPage(await relayWith({ 'key-file': undefined }), provider, key);
    expect((await other.logIn()).refreshToken).to.equal('');
    expectOAuthError(await other.refresh('x'), 'unsupported_grant_type');
  });

  it('needs no key with --refresh-tokens bearer, but stays bound to a proved key', async () => {
    const flags = { 'refresh-tokens': 'bearer', 'key-file': await newKeyFile() };
    const other = await relayWith(flags);
    const bearer = new OAuthPage(other, provider, undefined);
    const first = tokensOf(await bearer.refresh((await bearer.logIn()).refreshToken));
    tokensOf(await bearer.refresh(first.refreshToken));
    const bound = await new OAuthPage(other, provider, key).logIn();
    expectOAuthError(await bearer.refresh(bound.refreshToken), 'invalid_dpop_proof');
  });
});
