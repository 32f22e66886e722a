import { expect } from 'chai';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { RawConnection } from '../harness/client/raw-connection.ts';
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

const form = 'application/x-www-form-urlencoded';

describe('the token endpoint', () => {
  const underTest = relayUnderTest();

  describe('before it looks at a code', () => {
    function post(body: string, headers: Readonly<Record<string, string>> = {}) {
      const all = {
        Origin: frontendOrigin,
        'Content-Type': form,
        'Content-Length': `${Buffer.byteLength(body)}`,
        ...headers,
      };
      const sending = { method: 'POST', path: tokenPath, headers: Object.entries(all), body };
      return underTest().send(sending);
    }

    afterEach('no call was made', () => {
      expect(underTest().provider.calls).to.deep.equal([]);
    });

    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH']) {
      it(`refuses ${method}`, async () => {
        const answer = await underTest().send({ method, path: tokenPath });
        expect(answer.status).to.equal(405);
        expect(answer.headers.allow).to.equal('POST, OPTIONS');
        if (method !== 'HEAD') expectOAuthError(answer, 'invalid_request', 405);
      });
    }

    it("lets the front end's page send any header, including DPoP", async () => {
      const answer = await underTest().preflight(tokenPath, frontendOrigin, 'content-type,dpop');
      expect(answer.status).to.equal(204);
      expect(answer.headers['access-control-allow-origin']).to.equal(frontendOrigin);
      expect(answer.headers['access-control-allow-methods']).to.contain('POST');
      expect(answer.headers['access-control-allow-headers']).to.equal('content-type,dpop');
    });

    const types: Readonly<Record<string, Record<string, string>>> = {
      'plain text': { 'Content-Type': 'text/plain' },
      'a multipart form': { 'Content-Type': 'multipart/form-data; boundary=x' },
      'no type': { 'Content-Type': '' },
      'compressed text': { 'Content-Encoding': 'gzip' },
    };
    for (const [type, headers] of Object.entries(types)) {
      it(`refuses ${type}`, async () => {
        expectOAuthError(await post('grant_type=x', headers), 'invalid_request', 415);
      });
    }

    it('refuses a body over 16 KiB, and reads a body of 16 KiB', async () => {
      const padding = (size: number) => `client_id=app&x=${'x'.repeat(size - 16)}`;
      expectOAuthError(await post(padding(16_385)), 'invalid_request', 413);
      const answer = await post(padding(16_384));
      expectOAuthError(answer, 'invalid_request', 400);
      expect(`${answer.body}`).to.contain('grant_type');
    });

    it('answers 100 Continue to a client that sends Expect', async () => {
      const body = 'client_id=other';
      const connection = await RawConnection.open(underTest().port);
      const head = `POST ${tokenPath} HTTP/1.1\r\nHost: a\r\nContent-Type: ${form}\r\nContent-Length: ${body.length}`;
      connection.say(`${head}\r\nExpect: 100-continue\r\n\r\n`);
      await connection.hear('HTTP/1.1 100 Continue\r\n\r\n');
      connection.say(body);
      await connection.hear('invalid_client');
      connection.close();
    });

    const json = { 'Content-Type': 'Application/JSON; charset=utf-8' };
    const malformed: Readonly<Record<string, [body: string, headers?: Record<string, string>]>> = {
      'a parameter twice': ['client_id=app&client_id=app'],
      'a parameter that is not UTF-8': ['client_id=%ff'],
      'a lone percent sign': ['client_id=%'],
      'a character beyond ASCII that is not percent-encoded': ['client_id=é'],
      'JSON that ends early': ['{"client_id":"app"', json],
      'JSON that is a list': ['["app"]', json],
      'JSON with a number': ['{"client_id":1}', json],
      'JSON with a list of values': ['{"client_id":["app"]}', json],
      'JSON with half a surrogate pair': ['{"client_id":"\\ud800"}', json],
    };
    for (const [what, [body, headers]] of Object.entries(malformed)) {
      it(`refuses ${what}`, async () => {
        expectOAuthError(await post(body, headers), 'invalid_request', 400);
      });
    }

    for (const body of ['', 'client_id=', '{}', 'CLIENT_ID=app', 'client_id=constructor']) {
      it(`refuses a client without a client_id (${body || 'no body'})`, async () => {
        const headers = body.startsWith('{') ? json : {};
        expectOAuthError(await post(body, headers), 'invalid_client');
      });
    }
  });

  describe('at the redemption of a code, which', () => {
    let login: OAuthResponse;
    beforeEach(async () => {
      login = await logInTo(new FakeBrowser(underTest), underTest());
    });

    const redeem = (changes: Parameters = {}) => requestToken(underTest(), redemption(login, changes));

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

    it('also accepts JSON', async () => {
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
        expect(underTest().provider.calls).to.deep.equal([]);
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
});

describe('the redemption of a code while the provider cannot be reached', () => {
  let port: number;
  const underTest = relayUnderTest(async () => {
    port = await freePort();
    return { 'token-url': `http://127.0.0.1:${port}/token` };
  });

  it('fails, and succeeds with the same code when the provider answers again', async () => {
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
