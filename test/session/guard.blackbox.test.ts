import { expect } from 'chai';
import type { FailureCode } from '../../src/failures/relay-error.ts';
import { setCookies } from '../harness/browser/cookie-jar.ts';
import { expectFailure } from '../harness/expect/failures.ts';
import {
  expectSessionFailure,
  SessionPage,
  type SessionRequest,
  sessionFlags,
  sessionOf,
  sessionOrigin,
} from '../harness/login/session-page.ts';
import { RefreshingProvider } from '../harness/provider/refreshing-provider.ts';
import { baseUrl, loginPath, type Relay, useRelays } from '../harness/relay/relay-under-test.ts';

const endpoints = [
  ['GET', '/auth/session'],
  ['HEAD', '/auth/session'],
  ['POST', '/auth/session/refresh'],
  ['POST', '/auth/logout'],
  ['GET', '/api/user'],
  ['HEAD', '/api/user'],
] as const;

/** The parts of a request that an attacker's page can change, by the failure that they cause. */
const attacks: Readonly<Partial<Record<FailureCode, Readonly<Record<string, SessionRequest>>>>> = {
  request_header_missing: {
    'without the header': { header: undefined },
    'with an empty header': { header: '' },
    'with another value of the header': { header: '2' },
    'with the header twice': { headers: [['X-Login-Relay', '1']] },
  },
  cross_site_refused: {
    'from a page of another site': { origin: 'https://evil.example', site: 'cross-site' },
    'from a page of another site, without its Origin': { origin: undefined, site: 'cross-site' },
  },
  origin_foreign: {
    'from another origin, in a browser without Sec-Fetch-Site': {
      origin: 'https://evil.example',
      site: undefined,
    },
    'from a sibling of the relay': { origin: 'https://evil.relay.example' },
    'from the parent domain': { origin: 'https://relay.example' },
    'from the front end on plain http': { origin: 'http://app.relay.example' },
    'from another port of the front end': { origin: `${sessionOrigin}:8443` },
    'from an origin that begins like the front end': { origin: `${sessionOrigin}.evil.example` },
    'from the origin null': { origin: 'null' },
    'from another page of the relay’s own origin': { origin: undefined, site: 'same-origin' },
    'with two origins': { headers: [['Origin', sessionOrigin]] },
  },
  host_foreign: {
    'at another name of the relay': { host: 'rebound.evil.example' },
    'at an address of the relay': { host: '127.0.0.1' },
    'at a sibling of the relay': { host: 'app.relay.example' },
    'at a name that begins like the relay': { host: 'relay.example.evil.example' },
  },
};
const attackRows = Object.entries(attacks).flatMap(([code, requests]) =>
  Object.entries(requests).map(([what, request]) => ({ what, request, code: code as FailureCode })),
);

const sessionless =
  'No front end of this name has sessions. Without them, leave out mode: "session" in the browser client.';

describe('a request with the cookie of a session', () => {
  // This must run before the relay is stopped.
  after('the session has survived', async () => {
    sessionOf(await page.describe());
    await provider.stop();
  });
  const startRelay = useRelays();
  let provider: RefreshingProvider;
  let relay: Relay;
  let page: SessionPage;

  before('log in', async () => {
    provider = await RefreshingProvider.start();
    const flags = { ...provider.flags, ...(await sessionFlags()) };
    relay = await startRelay({ client: provider.registration, flags });
    page = new SessionPage(() => relay, provider);
    await page.logIn();
  });
  beforeEach(() => {
    provider.calls.length = 0;
  });

  for (const { what, request, code } of attackRows) {
    it(`${what} is refused (${code}), without a call and without a cookie`, async () => {
      for (const [method, path] of endpoints) {
        const answer = await page.send(path, method, request);
        const where = `${method} ${path}`;
        expect(answer.status, where).to.equal(403);
        expect(setCookies(answer), where).to.deep.equal([]);
        if (method === 'HEAD') continue;
        if (path === '/api/user') expectFailure(answer, code);
        else expectSessionFailure(answer, code);
      }
      expect(provider.calls).to.deep.equal([]);
    });
  }

  it('passes without Origin and Sec-Fetch-Site, as a program sends it', async () => {
    sessionOf(await page.describe({ origin: undefined, site: undefined }));
  });

  it('passes at the relay’s host in other letters, and with the port of a proxy', async () => {
    for (const host of ['RELAY.example', 'relay.example:443', 'relay.example:8000']) {
      sessionOf(await page.describe({ host }));
    }
  });

  it('passes only with the right method', async () => {
    for (const [method, path] of [
      ['POST', '/auth/session'],
      ['DELETE', '/auth/session'],
      ['GET', '/auth/session/refresh'],
      ['PUT', '/auth/session/refresh'],
      ['GET', '/auth/logout'],
    ] as const) {
      const answer = await page.send(path, method);
      expectSessionFailure(answer, 'method_not_allowed');
      expect(setCookies(answer)).to.deep.equal([]);
    }
  });

  it('names no front end that does not exist', async () => {
    for (const query of ['client_id=other', 'client_id=', 'client_id=app&client_id=app']) {
      const answer = await page.send(`/auth/session?${query}`);
      expectSessionFailure(answer, 'client_unknown', sessionless);
    }
  });

  describe('has a preflight', () => {
    const preflight = (path: string, origin: string) =>
      page.send(path, 'OPTIONS', {
        origin,
        header: undefined,
        headers: [
          ['Access-Control-Request-Method', 'POST'],
          ['Access-Control-Request-Headers', 'x-login-relay'],
        ],
      });

    for (const [, path] of endpoints.filter(([method]) => method !== 'HEAD')) {
      it(`that only the front end passes: ${path}`, async () => {
        const { status, headers } = await preflight(path, sessionOrigin);
        expect(status).to.equal(204);
        expect(headers).to.include({
          'access-control-allow-origin': sessionOrigin,
          'access-control-allow-credentials': 'true',
          'access-control-allow-headers': 'x-login-relay',
        });
        for (const origin of ['https://evil.relay.example', 'null', new URL(baseUrl).origin]) {
          const refused = await preflight(path, origin);
          expect(refused.headers).not.to.have.property('access-control-allow-origin');
        }
      });
    }
  });

  it('is answered so that only the front end can read it', async () => {
    for (const [method, path] of endpoints.filter(([, one]) => one !== '/auth/logout')) {
      const own = await page.send(path, method);
      expect(own.headers, path).to.include({
        'access-control-allow-origin': sessionOrigin,
        'access-control-allow-credentials': 'true',
        'cache-control': 'no-store',
      });
      const foreign = await page.send(path, method, { origin: 'https://evil.relay.example' });
      expect(foreign.headers, path).not.to.have.property('access-control-allow-origin');
    }
  });

  it('starts no login that would give the page a code or a token', async () => {
    const challenge = 'c'.repeat(43);
    for (const query of [
      'response_type=code',
      `code_challenge=${challenge}`,
      `response_type=code&client_id=app&code_challenge=${challenge}&code_challenge_method=S256`,
      `response_type=code&client_id=app&redirect_uri=${encodeURIComponent(`${sessionOrigin}/`)}&code_challenge=${challenge}&code_challenge_method=S256`,
    ]) {
      for (const path of [loginPath, `${loginPath}/app`]) {
        const answer = await page.browser.open(`${path}?${query}`, { headers: [] });
        expect(answer.status, query).to.equal(400);
        expect(answer.headers).not.to.have.property('location');
        expect(setCookies(answer)).to.deep.equal([]);
      }
    }
  });

  it('gets nothing at the token endpoint', async () => {
    const path = `${loginPath}/token`;
    const headers: [string, string][] = [['Content-Type', 'application/x-www-form-urlencoded']];
    expect((await page.send(path, 'POST', { headers })).status).to.equal(400);
    const body = 'grant_type=refresh_token&client_id=app&refresh_token=x';
    const asked = await relay.send({ method: 'POST', path, headers, body });
    expect(asked.status).to.equal(400);
    expect(JSON.parse(`${asked.body}`)).to.have.property('error', 'unauthorized_client');
    expect(provider.calls).to.deep.equal([]);
  });

  it('learns at a relay without sessions that it has none, and its cookie is not looked at', async () => {
    const plain = await startRelay({ client: provider.registration, flags: provider.flags });
    const other = new SessionPage(() => plain, provider);
    const { cookie } = page;
    for (const [method, path] of endpoints.filter(([verb, one]) => verb !== 'HEAD' && one.startsWith('/auth/'))) {
      const answer = await other.send(path, method, { cookie });
      expectSessionFailure(answer, 'client_unknown', sessionless);
    }
    expectFailure(await other.lookUp({ cookie, header: undefined }), 'credentials_missing');
  });
});
