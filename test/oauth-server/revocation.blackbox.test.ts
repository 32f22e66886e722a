import { expect } from 'chai';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import type { Answer } from '../harness/client/http-client.ts';
import { newProofKey, type ProofKey } from '../harness/client/proof.ts';
import { canary } from '../harness/expect/canaries.ts';
import {
  expectOAuthError,
  logInTo,
  type Parameters,
  redemption,
  requestToken,
} from '../harness/login/oauth-front-end.ts';
import { OAuthPage, type Tokens, tokensOf } from '../harness/login/oauth-page.ts';
import { sealCode, sealRefreshToken } from '../harness/login/sealed-grants.ts';
import type { RefreshingProvider } from '../harness/provider/refreshing-provider.ts';
import { useRefreshingRelay } from '../harness/relay/refreshing-relay.ts';
import { frontendOrigin, keyFile, keyLine, loginPath, type Relay } from '../harness/relay/relay-under-test.ts';

const removedLine = 'a line that was in the key file until today';
const elsewhere = { tokenUrl: 'https://evil.example/token' };
const path = `${loginPath}/revoke`;

describe('the revocation of a token', () => {
  const { startRelay, underTest } = useRefreshingRelay(async () => ({
    'key-file': await keyFile(),
  }));
  let provider: RefreshingProvider;
  let relay: Relay;
  let key: ProofKey;
  let page: OAuthPage;
  let tokens: Tokens;

  before(async () => {
    ({ provider, relay } = underTest());
    key = await newProofKey();
    page = new OAuthPage(relay, provider, key);
  });
  beforeEach('log in', async () => {
    tokens = await page.logIn();
    provider.calls.length = 0;
  });

  function revoke(token: string | undefined, changes: Parameters = {}): Promise<Answer> {
    return requestToken(relay, { client_id: 'app', token, ...changes }, [], { path });
  }

  function expectRevoked({ status, headers }: Answer): void {
    expect(status).to.equal(200);
    expect(headers['cache-control']).to.equal('no-store');
    expect(headers['access-control-allow-origin']).to.equal(frontendOrigin);
  }

  it('ends the login at the provider if it is a refresh token', async () => {
    for (const _ of ['once', 'again']) expectRevoked(await revoke(tokens.refreshToken));
    expect(provider.calls).to.have.lengthOf(1);
    expect(provider.accepts(tokens.accessToken)).to.equal(false);
    expectOAuthError(await page.refresh(tokens.refreshToken), 'invalid_grant');
  });

  it('ends the login at the provider if it is an access token', async () => {
    expectRevoked(await revoke(tokens.accessToken, { token_type_hint: 'access_token' }));
    expect(provider.credentials('revocation')).to.deep.equal([tokens.accessToken]);
    expect(provider.accepts(tokens.accessToken)).to.equal(false);
  });

  it('ends the newest tokens if another tab has just refreshed the login', async () => {
    const renewed = tokensOf(await page.refresh(tokens.refreshToken));
    provider.calls.length = 0;
    expectRevoked(await revoke(tokens.refreshToken));
    expect(provider.calls).to.have.lengthOf(1);
    expect(provider.isNewest(provider.credentials('revocation')[0])).to.equal(true);
    expect(provider.accepts(renewed.accessToken)).to.equal(false);
  });

  it('ignores a wrong token_type_hint', async () => {
    expectRevoked(await revoke(tokens.refreshToken, { token_type_hint: 'access_token' }));
    expect(provider.accepts(tokens.accessToken)).to.equal(false);
  });

  it('is answered with 200 for an unknown token, and for a token that is already revoked', async () => {
    expectRevoked(await revoke(canary('token')));
    expectRevoked(await revoke(tokens.accessToken));
    expectRevoked(await revoke(tokens.accessToken));
    expectRevoked(await revoke(tokens.refreshToken));
  });

  it('ends the login at the provider if the refresh token of the relay has expired', async () => {
    const held = canary('token');
    const expired = { endsAt: 1_700_000_000, providerToken: { refreshToken: held } };
    expectRevoked(await revoke(sealRefreshToken(provider, keyLine, expired)));
    expect(provider.credentials('revocation')).to.deep.equal([held]);
  });

  it('revokes the access token that a refresh token holds', async () => {
    provider.mood.rotation = 'none';
    const given = await page.logIn();
    provider.calls.length = 0;
    expectRevoked(await revoke(given.refreshToken));
    expect(provider.credentials('revocation')).to.deep.equal([given.accessToken]);
  });

  const sealedWith = (owner: { registration?: [string, string]; frontEnd?: string }) => () =>
    sealRefreshToken(provider, keyLine, owner);
  for (const [what, sealed] of [
    ['a refresh token of another registration', sealedWith({ registration: ['other', 'client-1'] })],
    ['one of another front end', sealedWith({ frontEnd: `other ${frontendOrigin}` })],
    ['one of this front end at another origin', sealedWith({ frontEnd: 'app https://former.example' })],
    ['one whose key was removed', () => sealRefreshToken(provider, removedLine)],
    ['one of a provider at another host', () => sealRefreshToken(elsewhere, keyLine)],
    ['a code of the relay', () => sealCode(provider, { key: keyLine })],
  ] as const) {
    it(`is refused for ${what}, without a call, and counted`, async () => {
      const answer = await revoke(sealed());
      expectOAuthError(answer, 'invalid_grant');
      expect(provider.calls).to.deep.equal([]);
      expect((await relay.lineOf(answer))['outcome']).to.equal('grant_invalid');
    });
  }

  for (const [what, changes, error] of [
    ['no token', { token: undefined }, 'invalid_request'],
    ['an empty token', { token: '' }, 'invalid_request'],
    ['two tokens', { token: ['a', 'b'] }, 'invalid_request'],
    ['another client', { client_id: 'other' }, 'invalid_client'],
    ['no client', { client_id: undefined }, 'invalid_client'],
  ] as const) {
    it(`is refused with ${what}, without a call`, async () => {
      expectOAuthError(await revoke(tokens.accessToken, changes), error);
      expect(provider.calls).to.deep.equal([]);
    });
  }

  it('is refused from a page of another origin, without a call', async () => {
    const origin = 'https://evil.example';
    const parameters = { client_id: 'app', token: tokens.accessToken };
    const answer = await requestToken(relay, parameters, [], { path, origin });
    expectOAuthError(answer, 'invalid_request', 403);
    expect(provider.calls).to.deep.equal([]);
  });

  it('never affects logins and logouts of other people at the same address', async () => {
    const flags = { ...provider.flags, 'trusted-proxies': '127.0.0.1', 'refresh-tokens': 'bearer' };
    const client = provider.registration;
    const limited = await startRelay({ client, flags: { ...flags, 'key-file': await keyFile() } });
    const from: [string, string][] = [['X-Forwarded-For', '198.51.100.8']];
    const send = (parameters: Parameters, to?: string) =>
      requestToken(limited, { client_id: 'app', ...parameters }, from, to ? { path: to } : {});
    const logIn = async () => {
      const login = await logInTo(new FakeBrowser(() => limited), { provider });
      return tokensOf(await send(redemption(login)));
    };
    const { refreshToken } = await logIn();
    provider.mood.trouble = 404;
    for (let time = 0; time < 12; time += 1) expectRevoked(await send({ token: refreshToken }, path));
    for (let time = 0; time < 10; time += 1) {
      expectRevoked(await send({ token: canary('token') }, path));
    }
    expect((await send({ token: canary('token') }, path)).status).to.equal(429);
    expectRevoked(await send({ token: refreshToken }, path));
    provider.mood.trouble = undefined;
    await logIn();
  });

  it('accepts only POST', async () => {
    const answer = await relay.get(`${path}?client_id=app&token=x`);
    expectOAuthError(answer, 'invalid_request', 405);
    expect(answer.headers.allow).to.equal('POST, OPTIONS');
  });

  it('fails while the provider has problems, and can be retried', async () => {
    for (const trouble of [503, 500, 'reset'] as const) {
      provider.mood.trouble = trouble;
      expectOAuthError(await revoke(tokens.refreshToken), 'temporarily_unavailable', 502);
    }
    provider.mood.trouble = undefined;
    expectRevoked(await revoke(tokens.refreshToken));
    expect(provider.accepts(tokens.accessToken)).to.equal(false);
  });

  it('is answered with 200 at a provider that does not revoke, without a call', async () => {
    const none = { 'revocation-url': undefined, 'key-file': await keyFile() };
    const client = provider.registration;
    const other = await startRelay({ client, flags: { ...provider.flags, ...none } });
    const at = new OAuthPage(other, provider, key);
    const given = await at.logIn();
    provider.calls.length = 0;
    for (const token of [given.refreshToken, given.accessToken]) {
      const answer = await requestToken(other, { client_id: 'app', token }, [], { path });
      expect(answer.status).to.equal(200);
    }
    expect(provider.calls).to.deep.equal([]);
    tokensOf(await at.refresh(given.refreshToken));
  });
});
