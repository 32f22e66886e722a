import { expect } from 'chai';
import { clearedCookies, setCookies } from '../harness/browser/cookie-jar.ts';
import {
  callback,
  expectLogin,
  expectRefusal,
  FakeBrowser,
  type Login,
  navigation,
} from '../harness/browser/fake-browser.ts';
import type { Answer } from '../harness/client/http-client.ts';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import { answer } from '../harness/provider/provider-behaviours.ts';
import type { Behaviour } from '../harness/provider/strict-provider.ts';
import { loginPath, relayUnderTest } from '../harness/relay/relay-under-test.ts';

const plainBaseUrl = 'http://127.0.0.1:8000';
const secretForm = /^[\w-]{43}$/;

describe('the cookie of a login', () => {
  describe('of a relay with an https base URL', () => {
    const underTest = relayUnderTest({ 'provider-timeout': '2' });
    let browser: FakeBrowser;
    beforeEach(() => {
      browser = new FakeBrowser(underTest);
    });

    it('can only be set by this host over TLS, is hidden from scripts, and ends after ten minutes', async () => {
      const [cookie, ...others] = setCookies(await browser.open(loginPath));
      expect(others).to.deep.equal([]);
      expect(cookie?.name).to.match(/^__Host-Http-lr_login_[0-9a-f]{16}$/);
      expect(cookie?.value).to.match(secretForm);
      expect(cookie?.attributes).to.deep.equal([
        'HttpOnly',
        'Max-Age=600',
        'Path=/',
        'SameSite=Lax',
        'Secure',
      ]);
    });

    it('has a secret, of which no part is in the state', async () => {
      const { state, cookie } = await browser.start();
      const secret = Buffer.from(cookie.value, 'base64url');
      const bytes = Buffer.from(state, 'base64url');
      for (let start = 0; start + 4 <= secret.length; start += 1) {
        expect(bytes.includes(secret.subarray(start, start + 4))).to.equal(false);
      }
    });

    it('is cleared last, because curl would keep it otherwise, and with its attributes, as browsers require', async () => {
      const login = await browser.start();
      const [finished, cleared, ...others] = setCookies(await browser.finish(login));
      expect(others).to.deep.equal([]);
      expect(finished?.name).to.equal('__Host-Http-lr_login_finished');
      const attributes = ['Path=/', 'SameSite=Lax', 'Secure'];
      expect(finished?.attributes).to.deep.equal(['HttpOnly', 'Max-Age=600', ...attributes]);
      expect(cleared).to.deep.equal({
        name: login.cookie.name,
        value: '',
        maxAge: '0',
        attributes: ['HttpOnly', 'Max-Age=0', ...attributes],
      });
    });

    describe('is cleared alone by the response to its own callback when', () => {
      const cases: Record<
        string,
        { status: number; onToken?: Behaviour; path?: (login: Login) => string }
      > = {
        'the login went well': { status: 307 },
        'the provider says error': {
          status: 400,
          path: ({ state }) => callback({ state, error: 'access_denied' }),
        },
        'the provider refuses the code': { status: 400, onToken: answer(401, '{}') },
      };
      for (const [name, { status, onToken, path }] of Object.entries(cases)) {
        it(name, async () => {
          const other = await browser.start();
          const login = await browser.start();
          const third = await browser.start();
          if (onToken) underTest().provider.onToken = onToken;
          const answered = await browser.open(path?.(login) ?? callback(pick(login)));
          expect(answered.status).to.equal(status);
          expect(clearedCookies(answered)).to.deep.equal([login.cookie.name]);
          expectOnlyLoginsKept(browser, [other, third]);

          underTest().provider.forget();
          expectLogin(underTest(), await browser.finish(other), other);
          expectLogin(underTest(), await browser.finish(third), third);
        });
      }
    });

    describe('is refused, and the login can still be finished, if it is', () => {
      const values: Record<string, (secret: string) => string> = {
        empty: () => '',
        'too short by a byte': (secret) =>
          Buffer.from(secret, 'base64url').subarray(1).toString('base64url'),
        'too short by a character': (secret) => secret.slice(0, -1),
        'too long by a character': (secret) => `${secret}A`,
        'too long by a byte': (secret) =>
          Buffer.concat([Buffer.from(secret, 'base64url'), Buffer.alloc(1)]).toString('base64url'),
        'very long': (secret) => secret.padEnd(4000, 'A'),
        quoted: (secret) => `"${secret}"`,
        'half quoted': (secret) => `"${secret}`,
        'padded with =': (secret) => `${secret}=`,
        'percent-encoded': (secret) => secret.replace(/./, (first) => `%${hex(first)}`),
        'encoded as base64': (secret) => Buffer.from(secret, 'base64url').toString('base64'),
        'encoded as hexadecimal': (secret) => Buffer.from(secret, 'base64url').toString('hex'),
        'encoded with its unused bits set': (secret) => `${secret.slice(0, -1)}${next(secret)}`,
        'followed by a Unicode space': (secret) => `${secret}\u{A0}`,
        'preceded by a Unicode space': (secret) => `\u{A0}${secret}`,
        'followed by a comma and more': (secret) => `${secret},${secret}`,
        'a word': () => 'undefined',
      };
      for (const [name, change] of Object.entries(values)) {
        it(name, async () => {
          const login = await browser.start();
          browser.cookies.set(login.cookie.name, change(login.cookie.value));
          const answered = await browser.finish(login);
          expectRefusal(underTest(), answered, 'cookie_invalid');
          expect(setCookies(answered)).to.deep.equal([]);
          browser.cookies.set(login.cookie.name, login.cookie.value);
          expectLogin(underTest(), await browser.finish(login), login);
        });
      }

      it('altered in any one byte', async () => {
        const login = await browser.start();
        const genuine = Buffer.from(login.cookie.value, 'base64url');
        for (const index of genuine.keys()) {
          const altered = Buffer.from(genuine);
          altered.writeUInt8(altered.readUInt8(index) ^ 1, index);
          browser.cookies.set(login.cookie.name, altered.toString('base64url'));
          expectRefusal(underTest(), await browser.finish(login), 'state_altered');
        }
        browser.cookies.set(login.cookie.name, login.cookie.value);
        expectLogin(underTest(), await browser.finish(login), login);
      });
    });

    /** Opens the callback with exactly this Cookie header, without the jar. */
    async function finishWith(login: Login, ...cookieHeaders: string[]): Promise<Answer> {
      return await underTest().send({
        path: callback(pick(login)),
        headers: [
          ...navigation,
          ...cookieHeaders.map((value): [string, string] => ['Cookie', value]),
        ],
      });
    }

    describe('is refused if it is sent twice', () => {
      const doubled: Record<string, (name: string, value: string) => string[]> = {
        'with the same value': (name, value) => [`${name}=${value}; ${name}=${value}`],
        'with another value after it': (name, value) => [`${name}=${value}; ${name}=x`],
        'with another value before it': (name, value) => [`${name}=x; ${name}=${value}`],
        'with an empty value': (name, value) => [`${name}=; ${name}=${value}`],
        'with other cookies between': (name, value) => [`${name}=${value}; a=b; ${name}=x; c=d`],
        'without a space between': (name, value) => [`${name}=${value};${name}=x`],
        'with a space before the equals sign': (name, value) => [
          `${name} =${value}; ${name}=${value}`,
        ],
        'with a tab before the equals sign': (name, value) => [`${name}=${value}; ${name}\t=x`],
        'in two Cookie headers': (name, value) => [`${name}=${value}`, `${name}=x`],
        'three times': (name, value) => [`${name}=${value}; ${name}=${value}; ${name}=${value}`],
      };
      for (const [kind, header] of Object.entries(doubled)) {
        it(kind, async () => {
          const login = await browser.start();
          const { name, value } = login.cookie;
          const answered = await finishWith(login, ...header(name, value));
          expectRefusal(underTest(), answered, 'cookie_invalid');
        });
      }
    });

    describe('is not read', () => {
      const hidden: Record<string, (name: string, value: string) => string> = {
        'from a name that starts with a no-break space': (name, value) => `\u{A0}${name}=${value}`,
        'from a name that ends with a no-break space': (name, value) => `${name}\u{A0}=${value}`,
        'from a name that starts with an em space': (name, value) =>
          `${utf8('\u{2003}')}${name}=${value}`,
        'from a name that starts with an ideographic space': (name, value) =>
          `${utf8('\u{3000}')}${name}=${value}`,
        'from a name that starts with a byte order mark': (name, value) =>
          `${utf8('\u{FEFF}')}${name}=${value}`,
        'from a name that starts with a line separator': (name, value) =>
          `${utf8('\u{2028}')}${name}=${value}`,
        'from a name that starts with a next-line control': (name, value) =>
          `\u{85}${name}=${value}`,
        'from a name that starts with an encoded space': (name, value) => `%20${name}=${value}`,
        'from a name that is percent-encoded': (name, value) =>
          `${name.replace('lr_', '%6cr_')}=${value}`,
        'from a name of another case': (name, value) => `${name.toUpperCase()}=${value}`,
        'from a name in a case that browsers do not protect': (name, value) =>
          `${name.replace('__Host-Http-', '__host-http-')}=${value}`,
        'from a quoted name': (name, value) => `"${name}"=${value}`,
        'from inside the quoted value of another cookie': (name, value) =>
          `theme="${name}=${value}"`,
        'from the value of another cookie': (name, value) => `theme=${name}=${value}`,
        'from the end of another name': (name, value) => `x${name}=${value}`,
        'from a cookie without a name': (name, value) => `=${name}=${value}`,
        'from a comma-separated list': (name, value) => `theme=dark, ${name}=${value}`,
        'from a cookie without a value': (name) => name,
      };
      for (const [kind, header] of Object.entries(hidden)) {
        it(kind, async () => {
          const login = await browser.start();
          const { name, value } = login.cookie;
          const answered = await finishWith(login, header(name, value));
          expectRefusal(underTest(), answered, 'state_unknown');
        });
      }
    });

    describe('is read beside', () => {
      const beside: Record<string, (name: string, value: string) => string> = {
        'other cookies': (name, value) => `a=b; ${name}=${value}; c=d`,
        'quoted ones': (name, value) => `a="b; c"; ${name}=${value}; d="e"`,
        'one with a stray quote': (name, value) => `a="b; ${name}=${value}`,
        'two that each hold a stray quote': (name, value) => `a="b; ${name}=${value}; c="d`,
        'two whose quotes look as if they enclosed it': (name, value) =>
          `a="b; ${name}=${value}; c=d"`,
        'one without an equals sign': (name, value) => `a; ${name}=${value}; b`,
        'cookies named like properties of objects': (name, value) =>
          `__proto__=x; ${name}=${value}; constructor=y; toString=z`,
        'one that is not ASCII': (name, value) => `a=\u{E9}\u{FF}; ${name}=${value}`,
        'its own name inside the quoted value of another': (name, value) =>
          `a="${name}=x"; ${name}=${value}`,
        'its own name inside the value of another': (name, value) =>
          `a=${name}=x; ${name}=${value}`,
        'its own name at the end of another': (name, value) => `x${name}=x; ${name}=${value}`,
      };
      for (const [kind, header] of Object.entries(beside)) {
        it(kind, async () => {
          const login = await browser.start();
          const { name, value } = login.cookie;
          expectLogin(underTest(), await finishWith(login, header(name, value)), login);
        });
      }

      it('a second Cookie header', async () => {
        const login = await browser.start();
        const { name, value } = login.cookie;
        expectLogin(underTest(), await finishWith(login, 'a=b', `${name}=${value}`), login);
      });
    });

    it('remembers finished logins, but does not trust this memory of the browser', async () => {
      const login = await browser.start();
      const idPrefix = login.cookie.name.slice(-16);
      const { name, value } = login.cookie;
      for (const finished of [
        idPrefix,
        '',
        '.',
        `${idPrefix}.`.repeat(100),
        '"',
        '%',
        'x'.repeat(4000),
      ]) {
        const header = `__Host-Http-lr_login_finished=${finished}`;
        const refused = await finishWith(login, header);
        expectRefusal(underTest(), refused, 'state_finished', 'state_unknown');
      }
      // The memory only decides the wording of a failure. A login that can be finished is finished.
      const answered = await finishWith(
        login,
        `__Host-Http-lr_login_finished=${idPrefix}; ${name}=${value}`,
      );
      expectLogin(underTest(), answered, login);
    });

    it('works beside a damaged memory of finished logins', async () => {
      for (const damaged of ['"', '..', 'é', '<script>', `${'0'.repeat(16)}.`.repeat(60)]) {
        browser.cookies.set('__Host-Http-lr_login_finished', damaged);
        const login = await browser.start();
        expectLogin(underTest(), await browser.finish(login), login);
        expect(browser.cookies.get('__Host-Http-lr_login_finished')).to.match(
          /^[0-9a-f.]{16,340}$/,
        );
      }
    });

    describe('of 20 pending logins', () => {
      it('is kept, and each login finishes, in reverse order', async () => {
        const logins = await startMany(browser, 20);
        expectOnlyLoginsKept(browser, logins);
        for (const login of logins.toReversed()) {
          expectLogin(underTest(), await browser.finish(login), login);
        }
      });

      it('is cleared by the next start if it is the oldest one', async () => {
        const logins = await startMany(browser, 20);
        for (const [index, oldest] of logins.slice(0, 5).entries()) {
          const started = await browser.open(loginPath);
          expect(clearedCookies(started), `start ${index + 21}`).to.deep.equal([
            oldest.cookie.name,
          ]);
        }
        expectRefusal(underTest(), await browser.finish(at(logins, 4)), 'state_unknown');
        const kept = at(logins, 5);
        expectLogin(underTest(), await browser.finish(kept), kept);
      });

      it('are cleared, the oldest first, if more logins start at once', async () => {
        const other = new FakeBrowser(underTest);
        const logins = await startMany(other, 25, () => other.cookies.clear());
        for (const { cookie } of logins) browser.cookies.set(cookie.name, cookie.value);
        const started = await browser.open(loginPath);
        expect(clearedCookies(started)).to.deep.equal(
          logins.slice(0, 6).map(({ cookie }) => cookie.name),
        );
        expect(browser.cookies.size).to.equal(20);
      });

      it('are cleared 20 at a time, even if a client makes up many more', async () => {
        const madeUp = Array.from({ length: 390 }, (_, index) => {
          return `__Host-Http-lr_login_${index.toString(16).padStart(16, '0')}`;
        });
        const cookies: [string, string] = ['Cookie', madeUp.map((name) => `${name}=`).join('; ')];
        const started = await underTest().send({
          path: loginPath,
          headers: [...navigation, cookies],
        });
        expectRedirect(started);
        expect(clearedCookies(started)).to.deep.equal(madeUp.slice(0, 20));
        expect(setCookies(started)).to.have.lengthOf(21);
        expect(started.rawHeaders.join().length).to.be.below(4096);
      });

      it('is not cleared because of cookies that do not belong to logins', async () => {
        for (let count = 0; count < 40; count += 1) {
          browser.cookies.set(`lr_login_${String(count).padStart(16, '0')}`, 'plain http');
          browser.cookies.set(`__Host-Http-lr_login_${count}`, 'short');
        }
        const first = await browser.start();
        const answered = await browser.open(loginPath);
        expect(clearedCookies(answered)).to.deep.equal([]);
        expectLogin(underTest(), await browser.finish(first), first);
      });
    });
  });

  describe('of a relay on plain http on this machine', () => {
    const underTest = relayUnderTest(
      { 'base-url': plainBaseUrl },
      { redirectUri: `${plainBaseUrl}/auth/provider/callback` },
    );

    it('has a name without a prefix, and is also sent over plain http', async () => {
      const browser = new FakeBrowser(underTest);
      const [cookie, ...others] = setCookies(await browser.open(loginPath));
      expect(others).to.deep.equal([]);
      expect(cookie?.name).to.match(/^lr_login_[0-9a-f]{16}$/);
      expect(cookie?.value).to.match(secretForm);
      expect(cookie?.attributes).to.deep.equal([
        'HttpOnly',
        'Max-Age=600',
        'Path=/',
        'SameSite=Lax',
      ]);
    });

    it('protects the login too: a foreign state is refused, and the own one is finished', async () => {
      const browser = new FakeBrowser(underTest);
      const login = await browser.start();
      const finished = await browser.finish(login);
      expectLogin(underTest(), finished, login);
      expect(clearedCookies(finished)).to.deep.equal([login.cookie.name]);
      underTest().provider.forget();
      const forged = await new FakeBrowser(underTest).start();
      const answered = await new FakeBrowser(underTest).finish(forged);
      expectRefusal(underTest(), answered, 'state_unknown');
      expectError(answered, 400);
    });
  });
});

function pick({ code, state }: Login): { code: string; state: string } {
  return { code, state };
}

function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index];
  if (item === undefined) throw new Error(`there is no item ${index}`);
  return item;
}

async function startMany(
  browser: FakeBrowser,
  count: number,
  beforeEachStart: () => void = () => {},
): Promise<Login[]> {
  const logins: Login[] = [];
  while (logins.length < count) {
    beforeEachStart();
    logins.push(await browser.start());
  }
  return logins;
}

function expectOnlyLoginsKept(browser: FakeBrowser, logins: readonly Login[]): void {
  const kept = [...browser.cookies.keys()].filter((name) => /_[0-9a-f]{16}$/.test(name));
  expect(kept).to.deep.equal(logins.map(({ cookie }) => cookie.name));
}

function hex(character: string): string {
  return Buffer.from(character).toString('hex');
}

/** The character after the last one in base64url's alphabet: the same bytes, encoded otherwise. */
function next(secret: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return alphabet.charAt(alphabet.indexOf(secret.slice(-1)) + 1);
}

/** The bytes of the text as Node's HTTP client writes them. */
function utf8(text: string): string {
  return Buffer.from(text).toString('latin1');
}
