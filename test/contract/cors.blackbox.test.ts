import { expect } from 'chai';
import type { Answer } from '../harness/client/http-client.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectError, expectSafeHeaders } from '../harness/expect/expectations.ts';
import { answer, reset } from '../harness/provider/provider-behaviours.ts';
import type { Behaviour } from '../harness/provider/strict-provider.ts';
import type { LogLine } from '../harness/relay/relay-process.ts';
import {
  callbackPath,
  frontendOrigin,
  loginPath,
  relayUnderTest,
  userPath,
} from '../harness/relay/relay-under-test.ts';

const paths = [loginPath, callbackPath, userPath, '/unknown'];

function corsHeaders(answered: Answer): string[] {
  return Object.keys(answered.headers).filter((name) => name.startsWith('access-control-'));
}

function expectAllowed(answered: Answer): void {
  expect(answered.headers['access-control-allow-origin']).to.equal(frontendOrigin);
  expect(answered.headers['access-control-allow-credentials']).to.equal('true');
  expectVaries(answered);
}

function expectVaries(answered: Answer): void {
  const vary = answered.headers.vary ?? '';
  expect(vary.toLowerCase().split(/, */)).to.include('origin');
}

describe('the cross-origin rules', () => {
  const underTest = relayUnderTest();

  const preflight = (path: string, method: string, headers?: string, origin?: string) =>
    underTest().preflight(path, origin, headers, method);

  it('warn of a request from another origin, naming both, once', async () => {
    const origin = 'http://app.example';
    await preflight(userPath, 'GET', undefined, origin);
    await preflight(userPath, 'GET', undefined, origin);
    await underTest().send({ path: loginPath, headers: [['Origin', origin]] });
    await underTest().get('/unknown');
    const ofOrigin = (line: LogLine) => line['origin'] === origin;
    expect(await underTest().process.logLine(ofOrigin)).to.include({
      level: 'warn',
      msg: 'request from another origin',
      configuredOrigin: frontendOrigin,
    });
    expect(underTest().process.logLines.filter(ofOrigin)).to.have.lengthOf(1);
  });

  it('let only the front end read the answer to OPTIONS', async () => {
    for (const [origin, allowed] of [
      [frontendOrigin, true],
      ['https://evil.example', false],
    ] as const) {
      const headers: [string, string][] = [['Origin', origin]];
      const answered = await underTest().send({ method: 'OPTIONS', path: userPath, headers });
      expect(answered.status).to.equal(204);
      if (allowed) expectAllowed(answered);
      else expect(corsHeaders(answered)).to.deep.equal([]);
      expectVaries(answered);
    }
  });

  const bearer: [string, string] = ['Authorization', `Bearer ${canary('token')}`];
  const situations: Record<string, [status: number, method: string, path: string, at?: Behaviour]> = {
    'a login that starts': [307, 'GET', loginPath],
    'a record': [200, 'GET', userPath],
    'no code': [400, 'GET', callbackPath],
    'an unknown path': [404, 'GET', '/unknown'],
    'an unknown path asked for its options': [404, 'OPTIONS', '/unknown'],
    'another method': [405, 'POST', loginPath],
    'a HEAD request': [405, 'HEAD', loginPath],
    'another method for the lookup': [405, 'DELETE', userPath],
    'a refused token': [401, 'GET', userPath, answer(401)],
    'a provider that is gone': [502, 'GET', userPath, reset],
    'a record that is not an object': [502, 'GET', userPath, answer(200, '[]')],
  };
  for (const [name, [status, method, path, behaviour]] of Object.entries(situations)) {
    it(`let the front end read the answer to ${name}, and it has the security headers`, async () => {
      const { provider } = underTest();
      if (behaviour !== undefined) Object.assign(provider, { onUser: behaviour, onToken: behaviour });
      const headers: [string, string][] = [['Origin', frontendOrigin], bearer];
      const answered = await underTest().send({ method, path, headers });
      expect(answered.status).to.equal(status);
      expectAllowed(answered);
      expectSafeHeaders(answered);
      if (status >= 400 && method !== 'HEAD') expectError(answered, status);
    });
  }

  it('ignore a request id of the client, which could forge a log line', async () => {
    const headers: [string, string][] = [['X-Request-Id', `${canary('token')}" "level":"error`]];
    const ids = new Set<unknown>();
    while (ids.size < 2) {
      const answered = await underTest().send({ path: loginPath, headers });
      expectSafeHeaders(answered);
      expect(ids).not.to.include(answered.headers['x-request-id']);
      ids.add(answered.headers['x-request-id']);
    }
  });

  describe('in a preflight', () => {
    for (const path of paths) {
      it(`for ${path}, allow the origin, credentials and caching`, async () => {
        const answered = await preflight(path, 'GET', 'authorization');
        expect(answered.status).to.be.oneOf([200, 204]);
        expect(answered.body.toString()).to.equal('');
        expectAllowed(answered);
        expectSafeHeaders(answered);
        expect(Number(answered.headers['access-control-max-age'])).to.be.greaterThan(0);
      });
    }

    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      it(`allow ${method}`, async () => {
        const answered = await preflight(userPath, method);
        const allowed = answered.headers['access-control-allow-methods'] ?? '';
        expect(allowed.split(/, */)).to.include(method);
      });
    }

    it('allow every header that is asked for', async () => {
      const names = ['authorization', 'x-anything', 'content-type', `x-${'long'.repeat(50)}`];
      const answered = await preflight(userPath, 'GET', names.join(','));
      const allowed = answered.headers['access-control-allow-headers'] ?? '';
      expect(allowed.split(/, */)).to.include.members(names);
    });

    for (const headers of ['zX\xac\xe5%+\xc2=\xc4\xa6\xa3`', 'x-one, x two: 2', '"x-one"', 'x-one;x-two']) {
      it(`do not send back ${JSON.stringify(headers)}, which is not a list of names`, async () => {
        const answered = await preflight(userPath, 'GET', headers);
        expect(answered.status).to.equal(204);
        expectAllowed(answered);
        expect(answered.headers).not.to.have.property('access-control-allow-headers');
      });
    }

    it('make no call and spend no code', async () => {
      await preflight(`${callbackPath}?code=${canary('code')}`, 'GET');
      await preflight(userPath, 'GET', 'authorization');
      expect(underTest().provider.calls).to.deep.equal([]);
    });
  });

  describe('say nothing to', () => {
    const others: Record<string, string[]> = {
      null: ['null'],
      'another origin': ['https://evil.example'],
      'an origin that ends alike': ['https://evil-app.example'],
      'an origin that begins alike': ['https://app.example.evil'],
      'a subdomain': ['https://sub.app.example'],
      'the parent domain': ['https://example'],
      'another port': ['https://app.example:8443'],
      'the default port spelled out': ['https://app.example:443'],
      'another scheme': ['http://app.example'],
      'a host of another case': ['https://APP.example'],
      'a scheme of another case': ['HTTPS://app.example'],
      'the origin with a slash': ['https://app.example/'],
      'the origin with a final dot': ['https://app.example.'],
      'the origin with a user name': ['https://user@app.example'],
      'the origin twice': ['https://app.example https://app.example'],
      'the origin in a list': ['https://app.example, https://evil.example'],
      'a wildcard': ['*'],
      nothing: [''],
      'a second Origin header': [frontendOrigin, 'https://evil.example'],
      'an Origin header after another one': ['https://evil.example', frontendOrigin],
      'a client that sends no origin': [],
    };
    for (const [name, origins] of Object.entries(others)) {
      it(`${name}, but still send Vary: Origin`, async () => {
        const headers = origins.map((origin): [string, string] => ['Origin', origin]);
        const asking: [string, string][] = [
          ['Access-Control-Request-Method', 'GET'],
          ['Access-Control-Request-Headers', 'authorization'],
        ];
        for (const path of paths) {
          for (const sending of [
            { path, headers },
            { method: 'OPTIONS', path, headers: [...headers, ...asking] },
          ]) {
            const answered = await underTest().send(sending);
            expect(corsHeaders(answered), JSON.stringify(sending)).to.deep.equal([]);
            expectVaries(answered);
          }
        }
      });
    }
  });
});
