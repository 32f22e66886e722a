import { once } from 'node:events';
import { connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { send } from '../../harness/client/http-client.ts';
import { pipelined } from '../../harness/client/pipelined.ts';
import { RawConnection } from '../../harness/client/raw-connection.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Balancer } from './support/balancer.ts';
import { claim, forgeries } from './support/forged-identities.ts';
import {
  type Application,
  challenge,
  type Header,
  headersIn,
  identity,
  metadataPath,
  type Relay,
  startApplication,
  startRelay,
} from './support/guarded-application.ts';
import { guards } from './support/kinds.ts';

const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');
const names = identity.map(([name]) => plain(name));

let application: Application;
for (const [name, kind] of Object.entries(guards(() => application.port))) {
  const { describe } = needsPrograms(kind.program);

  describe(`${name}, configured as in deploy, in front of a resource`, () => {
    let relay: Relay;
    let proxy: Balancer;

    before('start them', async () => {
      [relay, application] = await Promise.all([startRelay(), startApplication()]);
      proxy = await Balancer.start(kind, [relay.port]);
    });
    beforeEach(() => {
      application.heads.length = 0;
      application.uploads.length = 0;
    });
    afterEach('the relay was asked as it should be', () => {
      expect(relay.violations).to.deep.equal([]);
    });
    after('stop them', async () => {
      await proxy.stop();
      await Promise.all([relay.close(), application.close()]);
    });

    const ask = (token: string | undefined, headers: readonly Header[] = [], path = '/mcp') =>
      send(proxy.port, {
        path,
        authority: 'notes.example.com',
        headers: [...(token === undefined ? [] : [['Authorization', `Bearer ${token}`] as const]), ...headers].map(
          ([header, value]) => [header, value],
        ),
      });

    /** Sends what a browser sends before a request of a page. */
    const preflight = (path: string) =>
      send(proxy.port, {
        method: 'OPTIONS',
        path,
        authority: 'notes.example.com',
        headers: [
          ['Origin', 'https://app.example'],
          ['Access-Control-Request-Method', 'POST'],
          ['Access-Control-Request-Headers', 'authorization,mcp-protocol-version'],
        ],
      });

    /** Sends a request by its lines. */
    const say = async (start: string, ...lines: readonly string[]) => {
      const connection = await RawConnection.open(proxy.port);
      return connection.say([`${start} HTTP/1.1`, 'Host: notes.example.com', ...lines].join('\r\n'));
    };

    /** One request has passed, and the application sees the relay's identity and no other. */
    function expectPassed(): string {
      const [head = '', ...more] = application.heads;
      expect(more).to.deep.equal([]);
      expectIdentity(head);
      return head;
    }

    function expectIdentity(head: string, sent = ''): void {
      const shown = headersIn(head).map(([header, value]) => [plain(header), value] as const);
      // nginx leaves out empty headers.
      const found = shown.filter(([header, value]) => names.includes(header) && value !== '');
      const known = identity.filter(([, value]) => value !== '');
      const expected = known.map(([header, value]) => [plain(header), value]);
      expect(found, sent).to.have.deep.members(expected);
      expect(head, sent).not.to.match(new RegExp(`${claim}|authorization`, 'i'));
    }

    it('passes a request with a valid token, with the identity instead of the token', async () => {
      const answered = await ask(relay.token, [['Mcp-Session-Id', '7']], '/mcp?a=%2F&b');
      expect([answered.status, `${answered.body}`]).to.deep.equal([200, 'ok']);
      const head = expectPassed();
      expect(head).to.match(/^GET \/mcp\?a=%2F&b HTTP\/1\.1\r\n/);
      expect(headersIn(head).map(([n, v]) => [plain(n), v])).to.deep.include.members([
        ['host', 'notes.example.com'],
        ['mcp-session-id', '7'],
        ['x-forwarded-for', '127.0.0.1'],
      ]);
    });

    // nginx removes a header by its full name alone.
    const claimed = forgeries(name !== 'nginx');
    it(`shows the application none of ${claimed.length} identities that a client claims`, async () => {
      const requests = claimed.map((forgery) => {
        const headers = [...forgery, ['Authorization', `Bearer ${relay.token}`]];
        const lines = headers.map((header) => `${header.join(': ')}\r\n`).join('');
        return `GET /mcp HTTP/1.1\r\nHost: notes.example.com\r\n${lines}\r\n`;
      });
      const answers = await pipelined(proxy.port, requests);
      expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
      expect(application.heads).to.have.lengthOf(requests.length);
      for (const [index, head] of application.heads.entries()) {
        expectIdentity(head, requests[index]);
      }
    });

    it('passes a method that it does not know, and bodies, which the relay does not get', async () => {
      for (const framed of [
        'Content-Length: 4\r\n\r\nbody',
        'Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n',
      ]) {
        application.heads.length = 0;
        const connection = await say('FROBNICATE /mcp', `Authorization: Bearer ${relay.token}`, 'Cookie: a=b', framed);
        await connection.hear('\r\n\r\n');
        connection.close();
        // HAProxy before 3.2 takes no body without a length, because it cannot remove trailers.
        if (name === 'haproxy' && connection.heard.startsWith('HTTP/1.1 411 ')) {
          expect(framed).to.contain('chunked');
          expect(application.heads).to.deep.equal([]);
        } else {
          expect(expectPassed()).to.match(/^FROBNICATE \/mcp /);
        }
      }
    });

    /** Sends a request over HTTP/2. @returns the status; undefined if the proxy takes no such request */
    const uploadOverHttp2 = async (isAgreed: boolean, headers: OutgoingHttpHeaders, trailers?: OutgoingHttpHeaders) => {
      const { promise: isOver, resolve: end } = Promise.withResolvers<undefined>();
      const to = { port: proxy.tlsPort, host: '127.0.0.1', rejectUnauthorized: false };
      const socket = connectTls({ ...to, ...(isAgreed && { ALPNProtocols: ['h2'] }) });
      socket.on('error', () => end(undefined)).on('close', () => end(undefined));
      const session = connectHttp2('https://notes.example.com', { createConnection: () => socket });
      session.on('error', () => end(undefined));
      const start = { ':method': 'POST', ':path': '/upload', authorization: `Bearer ${relay.token}` };
      const request = session.request({ ...start, ...headers }, { waitForTrailers: trailers !== undefined });
      request.on('error', () => end(undefined)).on('wantTrailers', () => request.sendTrailers(trailers ?? {}));
      const answered = once(request, 'response').then(
        ([response]) => response[':status'],
        () => undefined,
      );
      request.end('body');
      const status: number | undefined = await Promise.race([answered, isOver]);
      session.destroy();
      socket.destroy();
      return status;
    };

    it('passes no trailers, because some servers take them for headers', async () => {
      const trailers = ['x-forwarded-user', 'x-other', 'authorization'].map((one) => [one, claim] as const);
      const expectNoTrailers = (status: unknown, how: string) => {
        // HAProxy before 3.2 takes no body without a length. Over HTTP/2, proxies end what they do not expect.
        expect(status, how).to.be.oneOf([200, 411, undefined]);
        expect(application.uploads.join(), how).not.to.match(new RegExp(`x-other: |${claim}`, 'i'));
      };
      for (const announced of ['', 'Trailer: X-Forwarded-User, X-Other\r\n', 'TE: trailers\r\n']) {
        const connection = await RawConnection.open(proxy.port);
        const lines = trailers.map((one) => `${one.join(': ')}\r\n`).join('');
        connection.say(
          `POST /upload HTTP/1.1\r\nHost: notes.example.com\r\nAuthorization: Bearer ${relay.token}\r\n` +
            `${announced}Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n${lines}\r\n`,
        );
        await connection.hear('\r\n\r\n');
        connection.close();
        expectNoTrailers(Number(connection.heard.slice('HTTP/1.1 '.length, 12)), announced);
      }
      for (const headers of [{}, { 'content-length': '4' }, { trailer: 'x-forwarded-user, x-other' }]) {
        // Go refuses an announcement of others.
        const sent = Object.fromEntries('trailer' in headers ? trailers.slice(0, 2) : trailers);
        for (const isAgreed of [true, false]) {
          const status = await uploadOverHttp2(isAgreed, headers, sent);
          expectNoTrailers(status, `HTTP/2 ${JSON.stringify(headers)}`);
        }
      }
    });

    it('answers with the challenge once, without a token and with a bad token', async () => {
      const bad = `${challenge}, error="invalid_token"`;
      for (const [token, expected] of [
        [undefined, challenge],
        ['bad', bad],
        [relay.token.toUpperCase(), bad],
      ] as const) {
        const { status, rawHeaders } = await ask(token);
        const challenges = rawHeaders.filter((_, at) => /^www-authenticate$/i.test(rawHeaders[at - 1] ?? ''));
        expect({ status, challenges }).to.deep.equal({ status: 401, challenges: [expected] });
        expect(rawHeaders.join()).to.match(/access-control-expose-headers,WWW-Authenticate/i);
      }
      expect(application.heads).to.deep.equal([]);
    });

    it('answers 400 to two tokens, and to a token in the query', async () => {
      expect((await ask(relay.token, [['authorization', 'Bearer bad']])).status).to.equal(400);
      expect((await ask(relay.token, [], `/mcp?access_token=${relay.token}`)).status).to.equal(400);
      expect(application.heads).to.deep.equal([]);
    });

    it('answers 503 with Retry-After if the relay does, and nothing passes if the check fails', async () => {
      const busy = await ask('busy');
      expect([busy.status, busy.headers['retry-after']]).to.deep.equal([503, '7']);
      for (const token of ['broken', 'reset']) {
        expect((await ask(token)).status, token).to.be.oneOf([500, 502, 503]);
      }
      expect(application.heads).to.deep.equal([]);
    });

    it('answers the preflight of a page, and lets it read the answer', async () => {
      const { status, headers } = await preflight('/mcp');
      expect(status).to.equal(204);
      expect(headers).to.include({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': '*',
        'access-control-allow-headers': 'Authorization, *',
      });
      expect(application.heads).to.deep.equal([]);
      expect((await ask(relay.token)).headers).to.include({ 'access-control-allow-origin': '*' });
    });

    it('passes the metadata of the resource, by host, without a token, and its preflights', async () => {
      const { status, body } = await ask(undefined, [], metadataPath);
      expect(status).to.equal(200);
      expect(JSON.parse(`${body}`)).to.include({ resource: 'https://notes.example.com/mcp' });
      expect((await preflight(metadataPath)).status).to.equal(204);
    });

    it('passes events one by one', async () => {
      const connection = await say('GET /events', `Authorization: Bearer ${relay.token}`, '', '');
      await connection.hear('text/event-stream');
      for (const event of ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']) {
        application.latest().write(event);
        await connection.hear(event);
      }
      connection.close();
      expectPassed();
    });

    const upgrade = (token: string, ...kinds: readonly string[]) =>
      say(
        'GET /mcp',
        `Authorization: Bearer ${token}`,
        'Connection: x-forwarded-user, Upgrade, HTTP2-Settings',
        ...kinds.map((one) => `Upgrade: ${one}`),
        'HTTP2-Settings: AAMAAABkAAQAAP__',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
        `X-Forwarded-User: ${claim}`,
        '',
        '',
      );

    it('passes a WebSocket with a good token, and not without', async () => {
      const refused = await upgrade('bad', 'websocket');
      await refused.hear('HTTP/1.1 401');
      refused.close();
      expect(application.heads).to.deep.equal([]);
      const accepted = await upgrade(relay.token, 'WebSocket');
      await accepted.hear('\r\n\r\n');
      expect(accepted.heard).to.match(/^HTTP\/1\.1 101 /);
      await accepted.say('frame').hear('frame');
      accepted.close();
      expectPassed();
    });

    it('upgrades to no other protocol, because requests in it would not be checked', async () => {
      for (const kinds of [['h2c'], ['h2c', 'websocket'], ['websocket, h2c']]) {
        application.heads.length = 0;
        const connection = await upgrade(relay.token, ...kinds);
        await connection.hear('HTTP/1.1 ');
        connection.close();
        expect(expectPassed()).not.to.match(/h2c/);
      }
    });

    it('passes nothing while no relay answers', async () => {
      await relay.close();
      expect((await ask(relay.token)).status).to.be.oneOf([502, 503]);
      expect(application.heads).to.deep.equal([]);
    });

    it('logs no token', async () => {
      const token = canary('token');
      await ask(token, [], `/the-end?access_token=${token}`);
      expect(await proxy.logged('/the-end')).not.to.contain(token);
    });
  });
}
