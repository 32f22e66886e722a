import { expect } from 'chai';
import { callback, FakeBrowser } from '../harness/browser/fake-browser.ts';
import { expectRedirect } from '../harness/expect/expectations.ts';
import {
  encoded,
  expectOAuthError,
  logInTo,
  oauthStart,
  redemption,
  requestToken,
} from '../harness/login/oauth-front-end.ts';
import { codeVerifier, sealCode, sealRefreshToken } from '../harness/login/sealed-grants.ts';
import {
  frontendOrigin,
  loginPath,
  relayUnderTest,
  secretFile,
} from '../harness/relay/relay-under-test.ts';

const key = 'a key that all relays of this test have';

describe('an attacker with a code of the relay', () => {
  const underTest = relayUnderTest(async () => ({ 'key-file': await secretFile(key) }));

  async function redeem(sealed: Partial<Parameters<typeof sealCode>[1]>) {
    return await redeemText(sealCode(underTest().provider, { key, ...sealed }));
  }

  async function redeemText(code: string) {
    const parameters = { grant_type: 'authorization_code', client_id: 'app', code };
    return await requestToken(underTest(), { ...parameters, code_verifier: codeVerifier });
  }

  it('can redeem it with the right parameters, which makes the refusals below valid', async () => {
    expect((await redeem({ age: 30 })).status).to.equal(200);
  });

  it('cannot redeem it after 61 seconds', async () => {
    expectOAuthError(await redeem({ age: 62 }), 'invalid_grant');
    expect(underTest().provider.calls).to.deep.equal([]);
  });

  it('cannot redeem one of another registration or front end, or of another key', async () => {
    expectOAuthError(await redeem({ registration: ['other', 'client-1'] }), 'invalid_grant');
    expectOAuthError(await redeem({ frontEnd: `blog ${frontendOrigin}` }), 'invalid_grant');
    const otherKey = 'a key that this relay does not have: 32';
    expectOAuthError(await redeem({ key: otherKey }), 'invalid_grant');
    expect(underTest().provider.calls).to.deep.equal([]);
  });

  it('cannot redeem one for a page that is not configured any more', async () => {
    expectOAuthError(await redeem({ redirectUri: 'https://former.example/' }), 'invalid_grant');
    expect(underTest().provider.calls).to.deep.equal([]);
  });

  it('cannot use a refresh token as a code', async () => {
    expectOAuthError(
      await redeemText(sealRefreshToken(underTest().provider, key)),
      'invalid_grant',
    );
  });

  it("cannot inject it into another browser's login, which has another verifier", async () => {
    const attacker = await logInTo(new FakeBrowser(underTest), underTest());
    const victim = await logInTo(new FakeBrowser(underTest), underTest());
    const injected = redemption(victim, { code: attacker.code });
    expectOAuthError(await requestToken(underTest(), injected), 'invalid_grant');
    expect(underTest().provider.calls).to.deep.equal([]);
  });

  it('cannot read its content', async () => {
    const { code } = await logInTo(new FakeBrowser(underTest), underTest());
    const text = Buffer.from(code, 'base64url').toString('latin1');
    expect(text).not.to.match(/provider|app\.example|c4n4ry/i);
  });

  it('gets no code from a callback without the cookie of the start', async () => {
    const started = expectRedirect(
      await new FakeBrowser(underTest).open(`${loginPath}?${encoded(oauthStart().parameters)}`),
    );
    const code = underTest().provider.authorize(started);
    const state = started.searchParams.get('state') ?? '';
    const answer = await new FakeBrowser(underTest).open(callback({ code, state }));
    expect(expectRedirect(answer).searchParams.get('code')).to.equal(null);
    expect(underTest().provider.calls).to.deep.equal([]);
  });
});

describe('a relay whose operator has changed the client at the provider', () => {
  const underTest = relayUnderTest(
    async () => ({ 'key-file': await secretFile(key), 'refresh-tokens': 'bearer' }),
    { clientId: 'client-2' },
  );

  it('refuses a code of the former client, because it would reach another provider', async () => {
    const code = sealCode(underTest().provider, { key });
    const parameters = { grant_type: 'authorization_code', client_id: 'app', code };
    const answer = await requestToken(underTest(), { ...parameters, code_verifier: codeVerifier });
    expectOAuthError(answer, 'invalid_grant');
  });

  it('refuses a refresh token of the former client', async () => {
    const refreshToken = sealRefreshToken(underTest().provider, key);
    const parameters = { client_id: 'app', refresh_token: refreshToken };
    const answer = await requestToken(underTest(), { grant_type: 'refresh_token', ...parameters });
    expectOAuthError(answer, 'invalid_grant');
    expect(underTest().provider.calls).to.deep.equal([]);
  });
});
