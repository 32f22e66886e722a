import { expect } from 'chai';
import { setCookies } from '../harness/browser/cookie-jar.ts';
import { callback, expectRefusal, FakeBrowser, navigation } from '../harness/browser/fake-browser.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectError, expectRedirect, expectToken } from '../harness/expect/expectations.ts';
import { callbackPath, frontendOrigin, loginPath, relayUnderTest } from '../harness/relay/relay-under-test.ts';

/** Header values. Each of them alone is a sign of a browser. */
const signsOfBrowser = {
  'Sec-Fetch-Site': ['none', 'cross-site', ''],
  'Sec-Fetch-Dest': ['document', 'empty'],
  'Sec-Fetch-User': ['?1'],
  'Sec-Fetch-Mode': ['navigate'],
  Origin: ['https://evil.example', frontendOrigin, 'null'],
  Referer: ['https://evil.example/'],
  'Upgrade-Insecure-Requests': ['1'],
  'User-Agent': ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Something Mozilla/4.0'],
  Accept: ['text/html', '*/*;q=0.8, text/html;q=0.9'],
  Cookie: [
    `__Host-Http-lr_login_0123456789abcdef=${'A'.repeat(43)}`,
    'lr_login_0123456789abcdef=x',
    'a=b; __Host-Http-lr_login_0123456789abcdef=',
    'a=b;__Host-Http-lr_login_0123456789abcdef=x',
  ],
};

/** Header values that are no sign of a browser. */
const noSigns = {
  'Sec-Fetch-Mode': ['cors'],
  'User-Agent': ['curl/8.0', 'python-requests/2.32'],
  Accept: ['*/*', 'application/json'],
  'Accept-Language': ['*'],
  Cookie: ['session=1; theme=dark'],
  'X-Requested-With': ['XMLHttpRequest'],
};

const eachHeader = (values: Record<string, string[]>): [name: string, value: string][] =>
  Object.entries(values).flatMap(([name, all]) => all.map((value): [string, string] => [name, value]));

describe('the state check', () => {
  describe('with --state-check browsers, the default', () => {
    const underTest = relayUnderTest();

    it('accepts a callback without a state from a client that sends only Host', async () => {
      const code = canary('code');
      const answer = await underTest().sendBytes(
        `GET ${callback({ code })} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      );
      expect(expectToken(answer)).to.equal(underTest().provider.tokenFor(code));
    });

    for (const [name, value] of eachHeader(noSigns)) {
      it(`accepts a callback without a state with ${name}: ${value}`, async () => {
        const code = canary('code');
        const path = callback({ code });
        const answer = await underTest().send({ path, headers: [[name, value]] });
        expect(expectToken(answer)).to.equal(underTest().provider.tokenFor(code));
        expect(setCookies(answer)).to.deep.equal([]);
      });
    }

    for (const [name, value] of eachHeader(signsOfBrowser)) {
      it(`refuses a callback without a state with ${name}: ${value}`, async () => {
        const path = callback({ code: canary('code') });
        const answer = await underTest().send({ path, headers: [[name, value]] });
        expectRefusal(underTest(), answer, 'state_missing');
      });
    }

    for (const [kind, state, failure] of [
      ['a state', 'any', 'state_altered'],
      ['an empty state', '', 'state_missing'],
    ] as const) {
      it(`refuses a plain client with ${kind}`, async () => {
        const answer = await underTest().get(callback({ code: canary('code'), state }));
        expectRefusal(underTest(), answer, failure);
      });
    }

    it("answers with the provider's error, because it spends nothing", async () => {
      const path = callback({ error: 'access_denied', code: canary('code') });
      for (const headers of [navigation, []]) {
        expectRefusal(underTest(), await underTest().send({ path, headers }), 'access_denied');
      }
    });

    it('spends no code if the error is empty', async () => {
      const path = callback({ error: '', code: canary('code') });
      for (const headers of [navigation, []]) {
        expectError(await underTest().send({ path, headers }), 400);
        expect(underTest().provider.calls).to.deep.equal([]);
      }
    });
  });

  describe('with --state-check always', () => {
    const underTest = relayUnderTest({ 'state-check': 'always' });

    it('also refuses a callback without a state from a plain client', async () => {
      const answer = await underTest().get(callback({ code: canary('code') }));
      expectRefusal(underTest(), answer, 'state_missing');
    });
  });

  describe('with --state-check off', () => {
    const underTest = relayUnderTest({ 'state-check': 'off' });

    it('starts a login with the bare protocol', async () => {
      const browser = new FakeBrowser(underTest);
      const answer = await browser.open(loginPath);
      const names = [...expectRedirect(answer).searchParams.keys()];
      expect(names).to.have.members(['response_type', 'client_id', 'redirect_uri']);
      expect(setCookies(answer)).to.deep.equal([]);
    });

    it('accepts a callback of a browser with any state, or none', async () => {
      const browser = new FakeBrowser(underTest);
      for (const state of [{ state: 'any' }, { state: '' }, { state: 's'.repeat(5000) }, {}]) {
        const code = canary('code');
        const answer = await browser.open(callback({ code, ...state }));
        expect(expectToken(answer)).to.equal(underTest().provider.tokenFor(code));
        expect(setCookies(answer)).to.deep.equal([]);
      }
    });

    it("ignores the front end's own state at the start", async () => {
      const plain = expectRedirect(await underTest().get(loginPath));
      for (const query of ['state=own', `state=${'s'.repeat(2049)}`, 'state=a&state=b', 'state=%']) {
        const answer = await underTest().get(`${loginPath}?${query}`);
        expect(expectRedirect(answer).href).to.equal(plain.href);
      }
    });

    it('gives the front end no state', async () => {
      const path = `${callbackPath}?code=${canary('code')}&state=own`;
      expect([...expectRedirect(await underTest().get(path)).searchParams.keys()]).to.deep.equal(['access_token']);
    });
  });
});
