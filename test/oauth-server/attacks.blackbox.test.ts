import { expect } from 'chai';
import { expectOAuthError, requestToken } from '../harness/login/oauth-front-end.ts';
import { codeVerifier, sealCode, sealRefreshToken } from '../harness/login/sealed-grants.ts';
import { relayUnderTest, secretFile } from '../harness/relay/relay-under-test.ts';

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

  it('cannot redeem one for a page that is not configured any more', async () => {
    expectOAuthError(await redeem({ redirectUri: 'https://former.example/' }), 'invalid_grant');
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
