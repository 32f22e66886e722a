import { expect } from 'chai';
import { RawConnection } from '../harness/client/raw-connection.ts';
import { expectOAuthError, tokenPath } from '../harness/login/oauth-front-end.ts';
import { frontendOrigin, relayUnderTest } from '../harness/relay/relay-under-test.ts';

const form = 'application/x-www-form-urlencoded';

describe('the token endpoint', () => {
  const underTest = relayUnderTest();

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

  it("lets the front end's page send any header, DPoP too", async () => {
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

  it('refuses a body over 16 KiB, and reads one of 16 KiB', async () => {
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
