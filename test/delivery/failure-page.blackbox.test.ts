import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { clearedCookies } from '../harness/browser/cookie-jar.ts';
import { callback, FakeBrowser, navigation, navigationWith, plainNavigation } from '../harness/browser/fake-browser.ts';
import type { Answer } from '../harness/client/http-client.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import { expectFailurePage } from '../harness/expect/failure-page.ts';
import { sealLogin } from '../harness/login/sealed-login.ts';
import { failedCallbacks, key, openFailedCallback } from '../harness/provider/failed-callbacks.ts';
import {
  baseUrl,
  callbackPath,
  frontendOrigin,
  loginPath,
  relayUnderTest,
  secretFile,
  startRelay,
  undiscovered,
  userPath,
} from '../harness/relay/relay-under-test.ts';

const loginUrl = `${baseUrl}${loginPath}`;
const back = `Back to ${new URL(frontendOrigin).host}`;

function expectPage(answer: Answer, status: number, detail: string | RegExp, again = loginUrl): void {
  const page = expectFailurePage(answer, status);
  if (typeof detail === 'string') expect(page.detail).to.equal(detail);
  else expect(page.detail).to.match(detail);
  expect(page.links['Log in again']?.split('?')[0] ?? '').to.equal(again);
  expect(page.links[back]).to.equal(`${frontendOrigin}/`);
}

describe('a failure with --error-delivery page', () => {
  const underTest = relayUnderTest(async () => ({
    'key-file': await secretFile(key),
    'error-delivery': 'page',
  }));
  let browser: FakeBrowser;
  beforeEach(() => {
    browser = new FakeBrowser(underTest);
  });

  describe('of a callback', () => {
    for (const [kind, failing] of Object.entries(failedCallbacks)) {
      it(`is a page with the status of the failure if ${kind}`, async () => {
        const { failure, proved, detail, onToken, age = 0 } = failing;
        const { provider } = underTest();
        const login = sealLogin(provider, { key, age, frontEndState: 'own "state"' });
        const answered = await openFailedCallback(failing, login, browser, provider);
        const expected = onToken ? new RelayError(failure).onceSpent() : new RelayError(failure);
        const isOfOperator = / operators? can fix this/.test(expected.detail);
        const again = isOfOperator ? '' : loginUrl;
        expectPage(answered, expected.status, detail ?? expected.detail, again);
        expect(answered.body.toString()).not.to.contain(login.state).and.not.to.contain(login.code);
        expect(clearedCookies(answered)).to.deep.equal(proved ? [login.cookie.name] : []);
        expect((await underTest().lineOf(answered))['outcome']).to.equal(failure);
      });
    }

    it('is a page for a prefetch', async () => {
      const prefetched = navigationWith('Sec-Purpose', 'prefetch');
      const login = await browser.start();
      const answered = await browser.finish(login, { headers: prefetched });
      expectPage(answered, 503, /prefetch/);
      expect(answered.headers['retry-after']).to.equal('1');
      expectRedirect(await browser.finish(login));
    });

    it('is a page for a POST of a form', async () => {
      const answered = await browser.open(callbackPath, { method: 'POST', body: 'code=a' });
      expectPage(answered, 405, new RelayError('method_not_allowed').detail);
      expect(answered.headers['allow']).to.equal('GET, OPTIONS');
    });

    it('does not quote the request', async () => {
      const payload = '"><script>alert(1)</script>';
      const hostile = ['error', 'error_description', 'state', 'iss'].map((name) => [name, payload]);
      const query = new URLSearchParams([['code', canary('code')], ...hostile]);
      const answered = await browser.open(`${callbackPath}?${query}`);
      expectPage(answered, 400, /\w/);
      expect(answered.body.toString()).not.to.contain('alert');
    });
  });

  describe('of a start', () => {
    it('is a page if the state of the front end is too long', async () => {
      const answered = await browser.open(`${loginPath}?state=${'s'.repeat(2049)}`);
      expectPage(answered, 400, new RelayError('front_end_state_unusable').detail);
      expect(expectFailurePage(answered, 400).links['Log in again']).to.equal(loginUrl);
    });

    it('is a page for a prefetch and for another method', async () => {
      const prefetched = navigationWith('Purpose', 'prefetch');
      expectPage(await browser.open(loginPath, { headers: prefetched }), 503, /prefetch/);
      expectPage(await browser.open(loginPath, { method: 'POST' }), 405, /method/);
    });
  });

  describe('of an address or request that the relay does not know', () => {
    for (const path of ['/auth', `${callbackPath}/`, '/favicon.ico', '/%00', '/%ff?%']) {
      it(`is a page: ${path}`, async () => {
        expectPage(await browser.open(path), 404, new RelayError('not_found').detail, '');
      });
    }

    const accept = 'Accept: text/html\r\nConnection: close\r\n\r\n';
    for (const [target, status] of [
      ['http://[/a', 404],
      [`https://evil.example${loginPath}?state=a#b`, 400],
      ['//evil.example:x/a', 404],
    ] as const) {
      it(`is a page even if the target is malformed: ${target}`, async () => {
        const answered = await underTest().sendBytes(`GET ${target} HTTP/1.1\r\nHost: relay.example\r\n${accept}`);
        expectPage(answered, status, /\w/, '');
        expect(answered.body.toString()).not.to.contain('evil');
      });
    }

    it('is a page even if the Host is malformed', async () => {
      const answered = await underTest().sendBytes(`GET /a HTTP/1.1\r\nHost: a b\r\n${accept}`);
      expectPage(answered, 400, new RelayError('host_unusable').detail, '');
    });
  });

  describe('leads to a login that the front end accepts', () => {
    const again = (answered: Answer) =>
      new URL(expectFailurePage(answered, answered.status).links['Log in again'] ?? '');

    for (const state of ['4f', 'a=b&c=d?e#f/"<script>\'%20', 'Zürich 🔑', 's'.repeat(512)]) {
      it(`with its own state: ${state.slice(0, 40)}`, async () => {
        const query = new URLSearchParams({ state });
        const login = await browser.start(`?${query}`);
        const denied = await browser.open(callback({ state: login.state, error: 'access_denied' }));
        const { pathname, search, searchParams } = again(denied);
        expect([...searchParams]).to.deep.equal([['state', state]]);
        const second = await browser.start(search);
        expect(pathname).to.equal(loginPath);
        const location = expectRedirect(await browser.finish(second));
        expect(location.searchParams.get('state')).to.equal(state);
      });
    }

    it('with its own state if the browser has dropped the cookie', async () => {
      const login = await browser.start('?state=own');
      browser.cookies.clear();
      expect(again(await browser.finish(login)).search).to.equal('?state=own');
    });

    it('with its own state if the start of the login failed', async () => {
      const prefetched = navigationWith('Sec-Purpose', 'prefetch');
      const answered = await browser.open(`${loginPath}?state=a%26b`, { headers: prefetched });
      expect(again(answered).search).to.equal('?state=a%26b');
    });

    it('without a state if none can be read', async () => {
      const login = await browser.start();
      const denied = await browser.open(callback({ state: login.state, error: 'access_denied' }));
      expect(again(denied).href).to.equal(loginUrl);
      const states = ['x', '%ff', '', 'a&state=b', Buffer.alloc(60).toString('base64url')];
      for (const state of states) {
        const answered = await browser.open(`${callbackPath}?code=a&state=${state}`);
        expect(again(answered).href).to.equal(loginUrl);
      }
    });
  });

  describe('is JSON for programs:', () => {
    const html = 'text/html,application/xhtml+xml,*/*;q=0.8';
    const programs: Record<string, [name: string, value: string][]> = {
      'without Accept': [],
      'that accept anything': [['Accept', '*/*']],
      'that accept JSON': [['Accept', 'application/json']],
      'that prefer JSON': [['Accept', 'text/html;q=0.5, application/json']],
      'that refuse HTML': [['Accept', 'text/html;q=0, */*']],
      'that accept pictures': [['Accept', 'image/avif,image/webp']],
      'with a malformed Accept': [['Accept', ';;,/,text']],
      'that are scripts of a page': [
        ['Accept', html],
        ['Sec-Fetch-Mode', 'cors'],
        ['Sec-Fetch-Dest', 'empty'],
      ],
      'that load a page as a resource': [
        ['Accept', html],
        ['Sec-Fetch-Mode', 'no-cors'],
      ],
    };

    for (const [kind, headers] of Object.entries(programs)) {
      it(kind, async () => {
        for (const [path, status] of [
          [`${callbackPath}?error=access_denied`, 400],
          [`${loginPath}?state=${'s'.repeat(2049)}`, 400],
          ['/nothing', 404],
        ] as const) {
          const answered = await underTest().send({ path, headers });
          expectError(answered, status);
          const vary = answered.headers.vary?.split(', ');
          expect(vary).to.include.members(['Accept', 'Sec-Fetch-Mode']);
        }
      });
    }

    it('the user lookup with any Accept, because only programs call it', async () => {
      const answered = await underTest().send({ path: userPath, headers: navigation });
      expect(expectError(answered, 401)).to.equal(new RelayError('credentials_missing').detail);
      const post = await underTest().send({ path: userPath, method: 'POST', headers: navigation });
      expectError(post, 405);
    });
  });

  it('is a page for browsers that send no Sec-Fetch-Mode, as on plain http', async () => {
    const headers = plainNavigation;
    const answered = await underTest().send({ path: callbackPath, headers });
    expectPage(answered, 400, new RelayError('query_missing').detail);
  });
});

describe('the failure page', () => {
  describe('of a relay with a rate limit, another page and a base URL with a path', () => {
    const underTest = relayUnderTest({
      'error-delivery': 'page',
      'rate-limit': '1',
      'base-url': `${baseUrl}/login`,
      'frontend-url': `${frontendOrigin}/app/?a=1&b=%22`,
      'path-name': 'staff',
    });

    it('says that there were too many requests, and links to the public addresses', async () => {
      const path = '/auth/staff/callback';
      await underTest().send({ path, headers: navigation });
      const answered = await underTest().send({ path, headers: navigation });
      const { detail, links } = expectFailurePage(answered, 429);
      expect(detail).to.equal(new RelayError('rate_limited').detail);
      expect(Number(answered.headers['retry-after'])).to.be.within(1, 60);
      expect(links).to.deep.equal({
        'Log in again': `${baseUrl}/login/auth/staff`,
        [back]: `${frontendOrigin}/app/?a=1&b=%22`,
      });
    });
  });

  it('says that the endpoints of the provider are not known yet', async () => {
    const relay = await startRelay({ ...undiscovered, 'error-delivery': 'page' });
    for (const path of [`${loginPath}?state=own`, callback({ error: 'access_denied' })]) {
      const answered = await relay.send({ path, headers: navigation });
      expectPage(answered, 503, new RelayError('provider_undiscovered').detail);
      expect(answered.headers['retry-after']).to.equal('5');
    }
    expectError(await relay.send({ path: '/readyz', headers: navigation }), 503);
    await relay.stop();
  });
});

describe('the page of the login host', () => {
  const underTest = relayUnderTest();

  it('says that a relay runs there, to people and to the probes of balancers', async () => {
    const page = await underTest().send({ path: '/', headers: navigation });
    expect(page.status).to.equal(200);
    expect(page.headers['cache-control']).to.equal('no-store, no-transform');
    expect(`${page.body}`).to.contain('It is ready.');
    expect(`${page.body}`).to.contain(`<a href="${frontendOrigin}/">Go to `);
    for (const accept of ['*/*', 'application/json']) {
      const headers: [string, string][] = [['Accept', accept]];
      expect((await underTest().send({ path: '/', headers })).status).to.equal(200);
      const probe = await underTest().send({ method: 'HEAD', path: '/', headers });
      expect([probe.status, probe.body.length]).to.deep.equal([200, 0]);
    }
  });
});

describe('a page of this machine at another port than the front end', () => {
  const underTest = relayUnderTest({ origin: 'http://localhost:5173' });
  const from = (page: string) => navigationWith('Referer', `${page}/`);

  it('is told which page the relay knows, before the provider is asked', async () => {
    const open = (headers: [string, string][]) => underTest().send({ path: loginPath, headers });
    const page = expectFailurePage(await open(from('http://localhost:5174')), 400);
    expect(page.heading).to.equal('Another address is expected');
    expect(page.detail).to.contain('http://localhost:5174').and.to.contain('http://localhost:5173');
    expect(page.links).to.deep.equal({ 'Back to localhost:5173': 'http://localhost:5173/' });
    for (const known of ['http://localhost:5173', 'https://elsewhere.example', baseUrl]) {
      expectRedirect(await open(from(known)));
    }
    expectRedirect(await open([['Referer', 'http://localhost:5174/']]));
  });
});
