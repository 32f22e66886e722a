import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { expectLogin, FakeBrowser, navigation } from '../../harness/browser/fake-browser.ts';
import { type Answer, send } from '../../harness/client/http-client.ts';
import { RawConnection } from '../../harness/client/raw-connection.ts';
import { canary, expectNoneRemembered } from '../../harness/expect/canaries.ts';
import { expectError, expectRedirect, expectToken, expectUser } from '../../harness/expect/expectations.ts';
import { expectOAuthError } from '../../harness/login/oauth-front-end.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';
import { StrictProvider } from '../../harness/provider/strict-provider.ts';
import {
  callbackPath,
  frontendOrigin,
  loginPath,
  type RelayUnderTest,
  registration,
  startRelay,
  startRelayFor,
  userPath,
} from '../../harness/relay/relay-under-test.ts';
import { strongSuites, weakSuites } from '../../harness/system/cipher-suites.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Balancer, startAtFreePort } from './support/balancer.ts';
import { kinds } from './support/kinds.ts';

const head = 'Host: login.example.com\r\nTransfer-Encoding: chunked\r\n\r\n';
const relayCookies = Array.from({ length: 470 }, (_, index) => {
  return `__Host-Http-lr_login_${index.toString(16).padStart(16, '0')}=`;
}).join('; ');
/** Requests that fail behind a balancer, although the relay has no fault; as bytes. */
const hostileRequests: Readonly<Record<string, string>> = {
  'a malformed first chunk': `GET ${loginPath} HTTP/1.1\r\n${head}zz\r\n`,
  'a malformed second chunk': `GET ${loginPath} HTTP/1.1\r\n${head}4\r\nbody\r\nzz\r\n`,
  'a chunk that is longer than announced': `POST ${loginPath} HTTP/1.1\r\n${head}1\r\nbody\r\n0\r\n\r\n`,
  'a chunk that is never complete': `POST ${callbackPath} HTTP/1.1\r\n${head}ff\r\nbody`,
  'a malformed chunk to a callback': `GET ${callbackPath}?code=x HTTP/1.1\r\n${head}zz\r\n`,
  '470 cookies named like those of the relay': `GET ${loginPath} HTTP/1.1\r\nHost: login.example.com\r\nConnection: close\r\nCookie: ${relayCookies}\r\n\r\n`,
};

const tokenPath = '/auth/provider/token';
/** The relay's limit of a token request. */
const longestRequest = 16 * 1024;

/** Sends a token request of this length. */
async function requestToken(port: number, length = longestRequest): Promise<Answer> {
  const body = 'grant_type=refresh_token&client_id=app&refresh_token='.padEnd(length, 'a');
  const headers: [string, string][] = [
    ['Origin', frontendOrigin],
    ['Content-Type', 'application/x-www-form-urlencoded'],
    ['Content-Length', `${length}`],
  ];
  return await send(port, { method: 'POST', path: tokenPath, headers, body });
}

async function lookUp(port: number): Promise<Answer> {
  const headers: [string, string][] = [['Authorization', `Bearer ${canary('token')}`]];
  return await send(port, { path: userPath, headers });
}

/** Starts a relay that is ready, but resets the connection as soon as it has read a request. It counts no probes. */
async function startDyingRelay(): Promise<DyingRelay> {
  const requests: string[] = [];
  const server = await serve(({ url = '', socket }, response) => {
    if (url === '/readyz') return void response.end('{}');
    requests.push(url.split('?')[0] ?? '');
    socket.resetAndDestroy();
  });
  return { ...server, requests };
}
type DyingRelay = Serving & { readonly requests: string[] };

for (const [name, kind] of Object.entries(kinds)) {
  const { describe } = needsPrograms(kind.program);

  describe(`${name}, configured as in deploy, in front of two relays`, () => {
    let provider: StrictProvider;
    let relays: RelayUnderTest[];
    let balancer: Balancer;

    before('start the relays and the balancer', async () => {
      provider = await StrictProvider.start(registration());
      relays = await Promise.all([1, 2].map(() => startAtFreePort(provider)));
      const ports = relays.map(({ port }) => port);
      balancer = await Balancer.start(kind, ports);
    });
    beforeEach(() => provider.forget());
    after('stop them', async () => {
      await balancer.stop();
      await Promise.all(relays.map((relay) => relay.process.stop()));
      await provider.stop();
    });

    const target = () => ({ port: balancer.port, provider });

    async function logIn(query = ''): Promise<void> {
      const browser = new FakeBrowser(target);
      const login = await browser.start(query);
      expectLogin(target(), await browser.finish(login), login);
    }

    it('forwards logins and lookups to both relays', async () => {
      const hasServed = ({ process: relay }: RelayUnderTest) =>
        relay.logLines.some(({ route }) => route === userPath || route === callbackPath);
      // Some balancers choose at random.
      while (!relays.every(hasServed)) {
        await logIn();
        expectUser(await lookUp(balancer.port));
      }
      expect(provider.violations).to.deep.equal([]);
    });

    it('forwards the longest state and code that the relay accepts, and even longer values', async () => {
      await logIn(`?state=${encodeURIComponent('\u{1f511}'.repeat(512))}`);
      // Its cookies are as long as they get.
      await logIn(`?state=${randomBytes(1536).toString('base64url')}`);
      const path = (length: number) => `${callbackPath}?code=${'a'.repeat(length)}`;
      expect((await send(balancer.port, { path: path(4096) })).status).to.equal(307);
      const tooLong = await send(balancer.port, { path: path(4097) });
      expect(expectError(tooLong, 400)).to.match(/too long/);
    });

    it('forwards a token request up to the limit of the relay, which refuses a longer request', async () => {
      expectOAuthError(await requestToken(balancer.port), 'unsupported_grant_type');
      const longer = await requestToken(balancer.port, longestRequest + 1);
      expectOAuthError(longer, 'invalid_request', 413);
    });

    it('accepts no TLS 1.2 cipher suite without authenticated encryption', async () => {
      const shakeHands = async (ciphers: string) => {
        const port = balancer.tlsPort;
        const offer = { port, host: '127.0.0.1', maxVersion: 'TLSv1.2', ciphers } as const;
        const socket = connectTls({ ...offer, rejectUnauthorized: false });
        await once(socket, 'secureConnect').finally(() => socket.destroy());
      };
      for (const suite of weakSuites) {
        const attempt = shakeHands(`${suite}:@SECLEVEL=0`);
        expect(await attempt.catch(({ code }) => code), suite).to.match(/HANDSHAKE_FAILURE/);
      }
      await shakeHands(strongSuites[0]);
    });

    for (const [what, bytes] of Object.entries(hostileRequests)) {
      it(`keeps all relays in rotation after ${what}`, async () => {
        const attack = async () => {
          const connection = await RawConnection.open(balancer.port);
          connection.say(bytes);
          // Some balancers answer, some wait for more, and some close the connection.
          await Promise.race([connection.closed, once(connection.socket, 'data'), delay(100)]);
          connection.close();
        };
        await Promise.all(Array.from({ length: 6 }, attack));
        const starts = Array.from({ length: 12 }, () => send(balancer.port, { path: loginPath }));
        for (const answered of await Promise.all(starts)) expectRedirect(answered);
      });
    }

    it('serves logins and lookups while a relay is killed, and after it is back', async () => {
      const [victim] = relays;
      if (victim === undefined) throw new Error('there is no relay');
      const ask = async () => {
        // Callbacks come first, because the first request finds out that a relay refuses connections.
        for (let time = 0; time < 6; time += 1) {
          expectToken(await send(balancer.port, { path: `${callbackPath}?code=${canary('code')}` }));
        }
        for (let time = 0; time < 6; time += 1) {
          await logIn();
          expectRedirect(await send(balancer.port, { path: loginPath }));
          expectUser(await lookUp(balancer.port));
        }
      };
      await victim.process.stop('SIGKILL');
      await ask();
      relays[0] = await startRelayFor(provider, { port: `${victim.port}` });
      await ask();
    });

    it('logs no codes, tokens, states and cookies', async () => {
      await logIn('?state=the-state-of-the-front-end');
      await send(balancer.port, { path: `${callbackPath}?code=${canary('code')}&code=` });
      await send(balancer.port, {
        path: `${userPath}?access_token=${canary('token')}`,
        headers: [...navigation, ['Referer', `https://app.example/?access_token=${canary('token')}`]],
      });
      await send(balancer.port, { path: `/the-end?code=${canary('code')}` });
      const log = await balancer.logged('/the-end');
      expect(log).to.contain(loginPath).and.contain(callbackPath).and.contain(userPath);
      expect(log).not.to.match(/c4n4ry|the-state-of/);
      expectNoneRemembered(log);
    });
  });

  describe(`${name}, configured as in deploy, in front of a relay with a rate limit`, () => {
    let underTest: RelayUnderTest;
    let balancer: Balancer;

    before('start them', async () => {
      underTest = await startRelay({ 'rate-limit': '2', 'trusted-proxies': '127.0.0.1' });
      balancer = await Balancer.start(kind, [underTest.port]);
    });
    after('stop them', async () => {
      await balancer.stop();
      await underTest.stop();
    });

    it('sends it the address of the client, whatever address the client claims', async () => {
      const statuses: number[] = [];
      for (const claimed of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) {
        const headers: [string, string][] = [
          ['X-Forwarded-For', claimed],
          ['Forwarded', `for=${claimed}`],
          ['X-Real-IP', claimed],
        ];
        statuses.push((await send(balancer.port, { path: callbackPath, headers })).status);
      }
      expect(statuses).to.deep.equal([400, 400, 429]);
    });
  });

  describe(`${name}, configured as in deploy, in front of a relay and of a relay that dies with every request`, () => {
    let underTest: RelayUnderTest;
    let dying: DyingRelay;
    let balancer: Balancer;

    before('start them', async () => {
      underTest = await startRelay();
      dying = await startDyingRelay();
      balancer = await Balancer.start(kind, [dying.port, underTest.port]);
    });
    beforeEach(() => underTest.provider.forget());
    after('stop them', async () => {
      await balancer.stop();
      await dying.close();
      await underTest.stop();
    });

    it('never forwards a callback twice, and answers the failure in JSON', async () => {
      const { provider } = underTest;
      dying.requests.length = 0;
      for (let time = 1; dying.requests.length === 0 || provider.calls.length === 0; time += 1) {
        const code = canary('code');
        const answered = await send(balancer.port, { path: `${callbackPath}?code=${code}` });
        expect(dying.requests.length + provider.calls.length, 'callbacks passed on').to.equal(time);
        if (provider.tokenFor(code) !== undefined) expect(expectToken(answered)).to.be.a('string');
        else expectUnavailable(answered);
      }
    });

    it('never forwards a token request twice, because codes and refresh tokens work once', async () => {
      const another = await startDyingRelay();
      const behind = await Balancer.start(kind, [dying.port, another.port]);
      try {
        dying.requests.length = 0;
        expectUnavailable(await requestToken(behind.port));
        expect([...dying.requests, ...another.requests]).to.deep.equal([tokenPath]);
      } finally {
        await behind.stop();
        await another.close();
      }
    });

    it('retries a lookup and the start of a login at another relay', async () => {
      dying.requests.length = 0;
      while (!dying.requests.includes(userPath)) expectUser(await lookUp(balancer.port));
      while (!dying.requests.includes(loginPath)) {
        expectRedirect(await send(balancer.port, { path: loginPath }));
      }
    });

    it('answers in JSON if no relay answers, and logs no code', async () => {
      await dying.close();
      await underTest.process.stop();
      for (const path of [callbackPath, loginPath, userPath]) {
        const query = `?code=${canary('code')}`;
        expectUnavailable(await send(balancer.port, { path: path + query }));
      }
      expect(await balancer.logged(userPath)).to.not.match(/c4n4ry/);
    });
  });
}

function expectUnavailable({ status, headers, body }: Answer): void {
  expect(status).to.be.oneOf([502, 503]);
  expect(headers['content-type']).to.match(/^application\/json/);
  expect(headers['cache-control']).to.equal('no-store');
  expect(JSON.parse(`${body}`)).to.have.all.keys('detail');
}
