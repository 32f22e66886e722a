import { expect } from 'chai';
import { setCookies } from '../harness/browser/cookie-jar.ts';
import {
  callback,
  expectRefusal,
  FakeBrowser,
  navigation,
} from '../harness/browser/fake-browser.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectError, expectRedirect, expectToken } from '../harness/expect/expectations.ts';
import {
  callbackPath,
  frontendOrigin,
  loginPath,
  relayUnderTest,
} from '../harness/relay/relay-under-test.ts';

/** Each of these headers alone is a sign of a browser. */
const signsOfBrowser: [name: string, value: string][] = [
  ['Sec-Fetch-Site', 'none'],
  ['Sec-Fetch-Site', 'cross-site'],
  ['Sec-Fetch-Site', ''],
  ['Sec-Fetch-Dest', 'document'],
  ['Sec-Fetch-Dest', 'empty'],
  ['Sec-Fetch-User', '?1'],
  ['Sec-Fetch-Mode', 'navigate'],
  ['Origin', 'https://evil.example'],
  ['Origin', frontendOrigin],
  ['Origin', 'null'],
  ['Referer', 'https://evil.example/'],
  ['Upgrade-Insecure-Requests', '1'],
  ['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
  ['User-Agent', 'Something Mozilla/4.0'],
  ['Accept', 'text/html'],
  ['Accept', '*/*;q=0.8, text/html;q=0.9'],
  ['Cookie', `__Host-Http-lr_login_0123456789abcdef=${'A'.repeat(43)}`],
  ['Cookie', 'lr_login_0123456789abcdef=x'],
  ['Cookie', 'a=b; __Host-Http-lr_login_0123456789abcdef='],
  ['Cookie', 'a=b;__Host-Http-lr_login_0123456789abcdef=x'],
];

/** None of these headers is a sign of a browser. */
const noSigns: [name: string, value: string][] = [
  ['Sec-Fetch-Mode', 'cors'],
  ['User-Agent', 'curl/8.0'],
  ['User-Agent', 'python-requests/2.32'],
  ['Accept', '*/*'],
  ['Accept', 'application/json'],
  ['Accept-Language', '*'],
  ['Cookie', 'session=1; theme=dark'],
  ['X-Requested-With', 'XMLHttpRequest'],
];

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

    for (const [name, value] of noSigns) {
      it(`accepts a callback without a state with ${name}: ${value}`, async () => {
        const code = canary('code');
        const answer = await underTest().send({
          path: callback({ code }),
          headers: [[name, value]],
        });
        expect(expectToken(answer)).to.equal(underTest().provider.tokenFor(code));
        expect(setCookies(answer)).to.deep.equal([]);
      });
    }

    for (const [name, value] of signsOfBrowser) {
      it(`refuses a callback without a state with ${name}: ${value}`, async () => {
        const answer = await underTest().send({
          path: callback({ code: canary('code') }),
          headers: [[name, value]],
        });
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
      for (const headers of [navigation, []]) {
        const answer = await underTest().send({
          path: callback({ error: 'access_denied', code: canary('code') }),
          headers,
        });
        expectRefusal(underTest(), answer, 'access_denied');
      }
    });

    it('spends no code if the error is empty', async () => {
      for (const headers of [navigation, []]) {
        const answer = await underTest().send({
          path: callback({ error: '', code: canary('code') }),
          headers,
        });
        expectError(answer, 400);
        expect(underTest().provider.calls).to.deep.equal([]);
      }
    });
  });

  describe('with --state-check always', () => {
    const underTest = relayUnderTest({ 'state-check': 'always' });

    it('refuses a callback without a state from a plain client, too', async () => {
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
      for (const query of ['state=own', `state=${'s'.repeat(513)}`, 'state=a&state=b', 'state=%']) {
        const answer = await underTest().get(`${loginPath}?${query}`);
        expect(expectRedirect(answer).href).to.equal(plain.href);
      }
    });

    it('gives the front end no state', async () => {
      const path = `${callbackPath}?code=${canary('code')}&state=own`;
      expect([...expectRedirect(await underTest().get(path)).searchParams.keys()]).to.deep.equal([
        'access_token',
      ]);
    });
  });
});
