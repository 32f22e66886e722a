import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import type { Answer } from '../harness/client/http-client.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectError, expectSafeHeaders } from '../harness/expect/expectations.ts';
import { callbackPath, loginPath, relayUnderTest, userPath } from '../harness/relay/relay-under-test.ts';

/** The methods in Allow. */
function allowed(answered: Answer): string[] {
  return (answered.headers.allow ?? '').split(/, */);
}

describe('errors', () => {
  const underTest = relayUnderTest();
  afterEach('no call was made', () => {
    expect(underTest().provider.calls).to.deep.equal([]);
  });

  it('does not refuse an unknown expectation', async () => {
    const headers: [string, string][] = [['Expect', 'something']];
    expect((await underTest().send({ path: loginPath, headers })).status).to.equal(307);
  });

  /** Sends a request with exactly these lines before its last line. */
  const sendHead = (...lines: string[]): Promise<Answer> =>
    underTest().sendBytes([...lines, 'Connection: close\r\n\r\n'].join('\r\n'));

  describe('404', () => {
    const unknown = [
      '/auth',
      '/api',
      '/api/users',
      '/auth/provider/callback/more',
      '/auth/github',
      '/index.html',
      '/auth%2Fprovider',
      '/favicon.ico',
      '/../etc/passwd',
      '/auth/provider/..%2f..',
      '/%',
      '/%ff',
      '/__proto__',
      '/constructor',
      '//evil.example/auth/provider',
      '/<script>alert(1)</script>',
      `/${'x'.repeat(4000)}`,
    ];
    for (const path of unknown) {
      it(`for ${path.slice(0, 40)}`, async () => {
        const detail = expectError(await underTest().get(path), 404);
        expect(detail).not.to.contain('evil').and.not.to.contain('script');
      });
    }

    it('for every method, with no body for HEAD', async () => {
      for (const method of ['POST', 'PUT', 'DELETE', 'PROPFIND']) {
        expectError(await underTest().send({ method, path: '/unknown' }), 404);
      }
      const answered = await underTest().send({ method: 'HEAD', path: '/unknown' });
      expect(answered.status).to.equal(404);
      expect(answered.body.length).to.equal(0);
      expectSafeHeaders(answered);
    });
  });

  describe('405', () => {
    for (const path of [loginPath, callbackPath, `${callbackPath}?code=one`, userPath]) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND']) {
        it(`for ${method} ${path}, with the methods that are allowed`, async () => {
          const headers: [string, string][] = [['Authorization', 'Bearer one']];
          const answered = await underTest().send({ method, path, headers });
          expectError(answered, 405);
          expect(allowed(answered)).to.include('GET').and.not.to.include(method);
        });
      }
    }

    for (const path of [loginPath, `${callbackPath}?code=one`]) {
      it(`for HEAD ${path}, without a body`, async () => {
        const answered = await underTest().send({ method: 'HEAD', path });
        expect(answered.status).to.equal(405);
        expect(allowed(answered)).to.include('GET').and.not.to.include('HEAD');
        expect(answered.body.length).to.equal(0);
        expectSafeHeaders(answered);
      });
    }
  });

  it('400 without a Host header', async () => {
    expectError(await sendHead(`GET ${loginPath} HTTP/1.1`), 400);
  });

  describe('400 for', () => {
    const hosts: Record<string, string> = {
      'an empty Host': 'Host:',
      'two Hosts': 'Host: a\r\nHost: b',
      'two Hosts of one value': 'Host: a\r\nhost: a',
      'a Host with a space in it': 'Host: a b',
      'a Host with a path': 'Host: a/b',
      'a Host with a user name': 'Host: someone@a',
      'a Host whose port is not a number': 'Host: a:b',
    };
    for (const [name, host] of Object.entries(hosts)) {
      it(name, async () => {
        const answered = await sendHead('GET /healthz HTTP/1.1', host);
        expect(expectError(answered, 400)).to.contain('Host');
      });
    }

    it('a target with a fragment', async () => {
      for (const target of [`${callbackPath}?code=ab#cd`, `${loginPath}#`, 'http://a/healthz#x']) {
        expectError(await sendHead(`GET ${target} HTTP/1.1`, 'Host: a'), 400);
      }
    });
  });

  it('takes every form of host', async () => {
    for (const host of ['a', 'a.example:80', '127.0.0.1:80', '[::1]:80', 'a_b-c.example:', 'a%20b']) {
      const answered = await sendHead('GET /healthz HTTP/1.1', `Host: ${host}`);
      expect(answered.status, host).to.equal(200);
    }
  });

  describe('400, and the connection is closed, for', () => {
    const head = `GET ${loginPath} HTTP/1.1\r\nHost: a\r\n`;
    const malformed: Record<string, string> = {
      'a malformed request line': 'HELLO\r\n\r\n',
      'a TLS handshake': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n',
      'a header without a colon': `${head}nonsense\r\n\r\n`,
      'a space before the colon': `${head}X : 1\r\n\r\n`,
      'a folded header': `${head}X: 1\r\n 2\r\n\r\n`,
      'a NUL in a header': `${head}X: a\0b\r\n\r\n`,
      'Content-Length beside Transfer-Encoding': `${head}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      'two Content-Lengths': `${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
      'a Content-Length that is not a number': `${head}Content-Length: x\r\n\r\n`,
      'an unknown method': `NONSENSE ${loginPath} HTTP/1.1\r\nHost: a\r\n\r\n`,
      'an unknown HTTP version': `GET ${loginPath} HTTP/9.9\r\nHost: a\r\n\r\n`,
      'HTTP/0.9': `GET ${loginPath}\r\nHost: a\r\n\r\n`,
      'HTTP/2.0': `GET ${loginPath} HTTP/2.0\r\nHost: a\r\n\r\n`,
      'chunks in HTTP/1.0': `POST ${loginPath} HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    };
    for (const [name, bytes] of Object.entries(malformed)) {
      it(`${name}, with a detail that quotes nothing of it`, async () => {
        const answered = await underTest().sendBytes(bytes);
        const { detail } = new RelayError(name === 'a TLS handshake' ? 'tls_unexpected' : 'bad_request');
        expect(expectError(answered, 400)).to.equal(detail);
        expect(answered.headers.connection).to.equal('close');
      });
    }
  });

  it('431 for headers that are too large, in number of bytes', async () => {
    for (const header of [
      `X-Large: ${'x'.repeat(20_000)}`,
      Array.from({ length: 200 }, (_, index) => `X-${index}: ${'x'.repeat(100)}`).join('\r\n'),
      `Cookie: a=${canary('code')}${'x'.repeat(20_000)}`,
    ]) {
      expectError(await sendHead(`GET ${loginPath} HTTP/1.1`, 'Host: a', header), 431);
    }
  });

  it('431 for a request target that is too large', async () => {
    const target = `${callbackPath}?code=${'x'.repeat(20_000)}`;
    expectError(await sendHead(`GET ${target} HTTP/1.1`, 'Host: a'), 431);
  });
});
