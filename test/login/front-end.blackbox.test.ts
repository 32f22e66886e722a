import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { clearedCookies, setCookies } from '../harness/browser/cookie-jar.ts';
import {
  callback,
  expectLogin,
  expectRefusal,
  FakeBrowser,
  navigation,
  navigationWith,
} from '../harness/browser/fake-browser.ts';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import { sealLogin } from '../harness/login/sealed-login.ts';
import { failedCallbacks, key, openFailedCallback } from '../harness/provider/failed-callbacks.ts';
import {
  callbackPath,
  frontendOrigin,
  loginPath,
  relayUnderTest,
  secretFile,
  startRelay,
} from '../harness/relay/relay-under-test.ts';

const ownStates: Record<string, string> = {
  'a word': 'opaque',
  'characters with a meaning in URLs': 'a=b&c=d?e#f/g+h%20i;j"k\'l\\m<n>',
  'spaces at its ends': ' padded ',
  'line breaks and a NUL': 'a\r\nX-Evil: 1\n\0b',
  'a byte order mark in front': '\u{FEFF}a',
  'letters of several scripts': 'Zürich, Ἀθῆναι, 東京, القاهرة',
  'a letter in two spellings': 'e\u{301} \u{E9}',
  emoji: '👩‍👩‍👧‍👦🏳️‍🌈',
  'the last code points of Unicode': '\u{FFFD}\u{FFFF}\u{10FFFF}',
  JSON: '{"return_to":"/posts/1?draft=true","nonce":"4f"}',
  'a foreign URL': 'https://evil.example/',
  'its own encoding': '%25%32%35',
  '2,048 characters': 's'.repeat(2048),
  '2,048 quotes': '"'.repeat(2048),
  '1,024 characters of two bytes': 'é'.repeat(1024),
  '512 characters of three bytes': '東'.repeat(512),

  '512 emoji': '🔑'.repeat(512),
};

describe("the front end's own state", () => {
  describe('with the token in the query', () => {
    const underTest = relayUnderTest();
    let browser: FakeBrowser;
    beforeEach(() => {
      browser = new FakeBrowser(underTest);
    });

    /** The address where a login ends that is started with this query. */
    async function endOf(query: string): Promise<URL> {
      const login = await browser.start(query);
      return expectLogin(underTest(), await browser.finish(login), login);
    }

    for (const [kind, state] of Object.entries(ownStates)) {
      it(`comes back unchanged with the token: ${kind}`, async () => {
        const location = await endOf(`?state=${encodeURIComponent(state)}`);
        expect([...location.searchParams.keys()]).to.deep.equal(['access_token', 'state']);
        expect(location.searchParams.get('state')).to.equal(state);
        expect(location.href.startsWith(`${frontendOrigin}/?`)).to.equal(true);
        expect(location.hash).to.equal('');
      });
    }

    it('is decoded as in forms', async () => {
      expect((await endOf('?state=a+b%2Bc')).searchParams.get('state')).to.equal('a b+c');
    });

    for (const [kind, query] of Object.entries({
      'has 2,049 characters': `?state=${'s'.repeat(2049)}`,
      'has 1,025 characters of two bytes': `?state=${encodeURIComponent('é'.repeat(1025))}`,
      'has thousands of characters': `?state=${'s'.repeat(12_000)}`,
      'is a lone percent sign': '?state=%',
      'is not UTF-8': '?state=%ff',
      'is half a surrogate pair': '?state=%ed%a0%80',
    })) {
      it(`is refused if it ${kind}, and no login is started`, async () => {
        const answered = await browser.open(`${loginPath}${query}`);
        expectRefusal(underTest(), answered, 'front_end_state_unusable');
        expect(setCookies(answered)).to.deep.equal([]);
      });
    }

    for (const query of ['?state=a&state=b', '?state=a&state=a', '?state=a&state', '?state&st%61te']) {
      it(`is refused if it is repeated (${query})`, async () => {
        const answered = await browser.open(`${loginPath}${query}`);
        const detail = expectError(answered, 400);
        expect(detail).to.match(/more than once/);
        // The person is at the start of a login. So the text must not mention a callback.
        expect(detail).not.to.match(/callback/);
        expect(setCookies(answered)).to.deep.equal([]);
      });
    }

    for (const query of ['', '?state=', '?state', '?State=a', '?state%5B%5D=a', '?x=1']) {
      it(`is absent if the front end sends none (${query || 'no query'})`, async () => {
        const { searchParams } = await endOf(query);
        expect([...searchParams.keys()]).to.deep.equal(['access_token']);
      });
    }

    it('belongs to its own login, with several pending', async () => {
      const one = await browser.start('?state=one');
      const two = await browser.start('?state=two');
      for (const [login, state] of [
        [two, 'two'],
        [one, 'one'],
      ] as const) {
        const location = expectLogin(underTest(), await browser.finish(login), login);
        expect(location.searchParams.get('state')).to.equal(state);
      }
    });
  });

  for (const [delivery, mark] of [
    ['query', '&'],
    ['fragment', '#'],
  ] as const) {
    it(`comes back in the ${delivery} after an existing query of the page, which stays unchanged`, async () => {
      const page = `${frontendOrigin}/?/route&q=a%20b~c&flag`;
      const relay = await startRelay({ 'frontend-url': page, 'token-delivery': delivery });
      const browser = new FakeBrowser(() => relay);
      const { href } = expectRedirect(await browser.finish(await browser.start('?state=own')));
      await relay.stop();
      expect(href.startsWith(`${page}${mark}access_token=`), href).to.equal(true);
      expect(href).to.match(/&state=own$/);
    });
  }
});

describe('a failed callback with --error-delivery redirect', () => {
  for (const delivery of ['query', 'fragment'] as const) {
    describe(`and --token-delivery ${delivery}`, () => {
      const underTest = relayUnderTest(async () => ({
        'key-file': await secretFile(key),
        'error-delivery': 'redirect',
        'token-delivery': delivery,
      }));
      let browser: FakeBrowser;
      beforeEach(() => {
        browser = new FakeBrowser(underTest);
      });

      /** The parameters that the front end gets. The redirect must lead to its page. */
      function received(location: URL): Record<string, string> {
        const [carrier, empty] =
          delivery === 'query'
            ? [location.searchParams, location.hash]
            : [new URLSearchParams(location.hash.slice(1)), location.search];
        expect(empty).to.equal('');
        expect(`${location.origin}${location.pathname}`).to.equal(`${frontendOrigin}/`);
        const names = [...carrier.keys()];
        expect(names).to.deep.equal([...new Set(names)]);
        return Object.fromEntries(carrier);
      }

      // The failure does not decide where the state goes, so a few failures are enough for the fragment.
      const kinds = Object.entries(failedCallbacks).slice(0, delivery === 'query' ? undefined : 3);
      for (const [kind, failing] of kinds) {
        it(`redirects with an error if ${kind}`, async () => {
          const { failure, proved, detail, onToken, age = 0 } = failing;
          const { provider } = underTest();
          const frontEndState = 'own & "state" – ✓';
          const login = sealLogin(provider, { key, age, frontEndState });
          const answered = await openFailedCallback(failing, login, browser, provider);
          expect(received(expectRedirect(answered))).to.deep.equal({
            error: failure,
            error_description: detail ?? new RelayError(failure).onceSpent().detail,
            request_id: answered.headers['x-request-id'],
            ...(proved && { state: frontEndState }),
          });
          expect(clearedCookies(answered)).to.deep.equal(proved ? [login.cookie.name] : []);
          expect((await underTest().lineOf(answered))['outcome']).to.equal(failure);
          expect(provider.calls.length > 0).to.equal(onToken !== undefined);
        });
      }

      it('has no state if the front end sent none', async () => {
        const { state } = await browser.start();
        const answered = await browser.open(callback({ state, error: 'access_denied' }));
        expect(received(expectRedirect(answered))).not.to.have.property('state');
      });

      it('answers a prefetch with 503, so that the browser repeats the request for the person', async () => {
        const login = await browser.start();
        const headers = navigationWith('Sec-Purpose', 'prefetch');
        expectRefusal(underTest(), await browser.finish(login, { headers }), 'prefetch_refused');
        expectRedirect(await browser.finish(login));
        expect(underTest().provider.tokenFor(login.code)).to.be.a('string');
      });

      it('also redirects a failed start', async () => {
        const answered = await browser.open(`${loginPath}?state=${'s'.repeat(2049)}`);
        const { error } = received(expectRedirect(answered));
        expect(error).to.equal('front_end_state_unusable');
      });

      it('answers other failures with JSON, and without a redirect', async () => {
        expectError(await browser.open(callback({}), { method: 'POST' }), 405);
        expectError(await browser.open(`${callbackPath}/`), 404);
        expectError(await browser.open('/api/user', { headers: navigation }), 401);
      });

      it('redirects only to the configured front end, whatever the request says', async () => {
        const answered = await underTest().sendBytes(
          `GET https://evil.example${callbackPath}?error=access_denied&redirect_uri=https%3A%2F%2F` +
            'evil.example&error_uri=https%3A%2F%2Fevil.example HTTP/1.1\r\nHost: evil.example\r\n' +
            'Origin: https://evil.example\r\nReferer: https://evil.example/\r\n' +
            'X-Forwarded-Host: evil.example\r\nConnection: close\r\n\r\n',
        );
        const location = expectRedirect(answered);
        expect(received(location)['error']).to.equal('access_denied');
        expect(location.href).not.to.contain('evil');
      });
    });
  }
});
