import { expect } from 'chai';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import {
  expectOAuthError,
  logInTo,
  type OAuthResponse,
  type Parameters,
  redemption,
  requestToken,
  tokenPath,
} from '../harness/login/oauth-front-end.ts';
import { json, reset } from '../harness/provider/provider-behaviours.ts';
import { serve } from '../harness/provider/serve.ts';
import { frontendOrigin, relayUnderTest } from '../harness/relay/relay-under-test.ts';
import { freePort } from '../harness/system/free-port.ts';

describe('the redemption of a code', () => {
  const underTest = relayUnderTest();
  let login: OAuthResponse;
  beforeEach(async () => {
    login = await logInTo(new FakeBrowser(underTest), underTest());
  });

  const redeem = (changes: Parameters = {}) =>
    requestToken(underTest(), redemption(login, changes));

  function expectNoCall(): void {
    expect(underTest().provider.calls).to.deep.equal([]);
  }

  it("gives the provider's token, and no refresh token to a page without a proof", async () => {
    const answer = await redeem();
    expect(answer.status, `${answer.body}`).to.equal(200);
    const [code] = underTest().provider.credentials('token');
    expect(JSON.parse(`${answer.body}`)).to.deep.equal({
      access_token: underTest().provider.tokenFor(code ?? ''),
      token_type: 'bearer',
    });
    expect(answer.headers['cache-control']).to.equal('no-store');
    expect(answer.headers['access-control-allow-origin']).to.equal(frontendOrigin);
  });

  it('accepts JSON, too', async () => {
    const body = JSON.stringify(redemption(login));
    const headers: [string, string][] = [
      ['Content-Type', 'application/json; charset=utf-8'],
      ['Content-Length', `${Buffer.byteLength(body)}`],
    ];
    const answer = await underTest().send({ method: 'POST', path: tokenPath, headers, body });
    expect(answer.status, `${answer.body}`).to.equal(200);
  });

  const refused: Readonly<Record<string, [changes: Parameters, error: string]>> = {
    'another verifier': [{ code_verifier: 'v'.repeat(43) }, 'invalid_grant'],
    'a verifier that is too short': [{ code_verifier: 'v' }, 'invalid_grant'],
    'no verifier': [{ code_verifier: undefined }, 'invalid_request'],
    'another redirect URI': [{ redirect_uri: `${frontendOrigin}/x` }, 'invalid_grant'],
    'another client': [{ client_id: 'other' }, 'invalid_client'],
    'no client': [{ client_id: undefined }, 'invalid_client'],
    'no code': [{ code: undefined }, 'invalid_request'],
    'an empty code': [{ code: '' }, 'invalid_request'],
    'two codes': [{ code: ['a', 'b'] }, 'invalid_request'],
    'a code that is not one of the relay': [{ code: 'x' }, 'invalid_grant'],
    'no grant type': [{ grant_type: undefined }, 'invalid_request'],
    'another grant type': [{ grant_type: 'password' }, 'unsupported_grant_type'],
    'a grant type of every object': [{ grant_type: 'constructor' }, 'unsupported_grant_type'],
  };
  for (const [what, [changes, error]] of Object.entries(refused)) {
    it(`is refused with ${what}, and spends nothing`, async () => {
      expectOAuthError(await redeem(changes), error);
      expectNoCall();
      expect((await redeem()).status).to.equal(200);
    });
  }

  it('is refused a second time, without a call', async () => {
    expect((await redeem()).status).to.equal(200);
    expectOAuthError(await redeem(), 'invalid_grant');
    expect(underTest().provider.calls).to.have.lengthOf(1);
  });

  it('reports a code that the provider refuses', async () => {
    underTest().provider.onToken = json({ error: 'bad_verification_code' });
    expectOAuthError(await redeem(), 'invalid_grant');
  });

  it('answers 502 for faults of the operator and problems of the provider', async () => {
    underTest().provider.onToken = json({ error: 'incorrect_client_credentials' });
    expectOAuthError(await redeem(), 'server_error', 502);
    login = await logInTo(new FakeBrowser(underTest), underTest());
    underTest().provider.onToken = reset;
    expectOAuthError(await redeem(), 'temporarily_unavailable', 502);
  });
});

describe('the redemption of a code while the provider cannot be reached', () => {
  let port: number;
  const underTest = relayUnderTest(async () => {
    port = await freePort();
    return { 'token-url': `http://127.0.0.1:${port}/token` };
  });

  it('fails, and succeeds with the same code when the provider is back', async () => {
    const login = await logInTo(new FakeBrowser(underTest), underTest());
    const first = await requestToken(underTest(), redemption(login));
    expectOAuthError(first, 'temporarily_unavailable', 502);
    expect(`${first.body}`).to.contain('Try again');
    const provider = await serve((_request, response) => {
      response.end('{"access_token":"opaque"}');
    }, port);
    try {
      const second = await requestToken(underTest(), redemption(login));
      const token = { access_token: 'opaque', token_type: 'bearer' };
      expect(JSON.parse(`${second.body}`)).to.deep.equal(token);
    } finally {
      await provider.close();
    }
  });
});
