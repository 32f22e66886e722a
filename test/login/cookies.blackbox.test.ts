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
import { expectRedirect } from '../harness/expect/expectations.ts';
import { loginPath, relayUnderTest } from '../harness/relay/relay-under-test.ts';

const plainBaseUrl = 'http://127.0.0.1:8000';
const secretForm = /^[\w-]{43}$/;
const attributes = ['HttpOnly', 'Max-Age=600', 'Path=/', 'SameSite=Lax'];

describe('the cookie of a login', () => {
  describe('of a relay with an https base URL', () => {
    const underTest = relayUnderTest();
    let browser: FakeBrowser;
    beforeEach(() => {
      browser = new FakeBrowser(underTest);
    });

    it('can only be set by this host over TLS, is hidden from scripts, and ends after ten minutes', async () => {
      const [cookie, ...others] = setCookies(await browser.open(loginPath));
      expect(others).to.deep.equal([]);
      expect(cookie?.name).to.match(/^__Host-Http-lr_login_[0-9a-f]{16}$/);
      expect(cookie?.value).to.match(secretForm);
      expect(cookie?.attributes).to.deep.equal([...attributes, 'Secure']);
    });

    it('is cleared last, because curl would keep it otherwise, and with its attributes, as browsers require', async () => {
      const login = await browser.start();
      const [finished, cleared, ...others] = setCookies(await browser.finish(login));
      expect(others).to.deep.equal([]);
      expect(finished?.name).to.equal('__Host-Http-lr_login_finished');
      expect(finished?.attributes).to.deep.equal([...attributes, 'Secure']);
      expect(cleared).to.deep.equal({
        name: login.cookie.name,
        value: '',
        maxAge: '0',
        attributes: ['HttpOnly', 'Max-Age=0', 'Path=/', 'SameSite=Lax', 'Secure'],
      });
    });

    it('is refused if it is altered, and the login can still be finished', async () => {
      const login = await browser.start();
      const { name, value } = login.cookie;
      for (const altered of ['', value.slice(0, -1), `${value}A`, `"${value}"`, `\u{A0}${value}`]) {
        browser.cookies.set(name, altered);
        const answered = await browser.finish(login);
        expectRefusal(underTest(), answered, 'cookie_invalid');
        expect(setCookies(answered)).to.deep.equal([]);
      }
      browser.cookies.set(name, value);
      expectLogin(underTest(), await browser.finish(login), login);
    });

    /** Opens the callback with exactly this Cookie header, without the jar. */
    async function finishWith(login: Login, ...cookieHeaders: string[]): Promise<Answer> {
      return await underTest().send({
        path: callback({ code: login.code, state: login.state }),
        headers: [...navigation, ...cookieHeaders.map((value) => ['Cookie', value] as [string, string])],
      });
    }

    /** Starts a login, and opens its callback with its cookie in these forms. */
    async function finishAs(...forms: string[]): Promise<{ login: Login; answered: Answer }> {
      const login = await browser.start();
      const { name, value } = login.cookie;
      const headers = forms.map((form) =>
        form
          .replaceAll('NAME', () => name)
          .replaceAll('ID', () => name.slice(-16))
          .replaceAll('VALUE', () => value),
      );
      return { login, answered: await finishWith(login, ...headers) };
    }

    for (const [kind, ...headers] of [
      ['with the same value', 'NAME=VALUE; NAME=VALUE'],
      ['with another value after it', 'NAME=VALUE; NAME=x'],
      ['with another value before it', 'NAME=x; NAME=VALUE'],
      ['with an empty value', 'NAME=; NAME=VALUE'],
      ['with other cookies between', 'NAME=VALUE; a=b; NAME=x; c=d'],
      ['without a space between', 'NAME=VALUE;NAME=x'],
      ['with a space before the equals sign', 'NAME =VALUE; NAME=VALUE'],
      ['with a tab before the equals sign', 'NAME=VALUE; NAME\t=x'],
      ['in two Cookie headers', 'NAME=VALUE', 'NAME=x'],
      ['three times', 'NAME=VALUE; NAME=VALUE; NAME=VALUE'],
    ] as const) {
      it(`is refused if it is sent twice ${kind}`, async () => {
        expectRefusal(underTest(), (await finishAs(...headers)).answered, 'cookie_invalid');
      });
    }

    for (const [kind, form] of [
      ['a name that starts with a no-break space', '\u{A0}NAME=VALUE'],
      ['a name that ends with a no-break space', 'NAME\u{A0}=VALUE'],
      ['a name that starts with an em space', `${utf8('\u{2003}')}NAME=VALUE`],
      ['a name that starts with an ideographic space', `${utf8('\u{3000}')}NAME=VALUE`],
      ['a name that starts with a byte order mark', `${utf8('\u{FEFF}')}NAME=VALUE`],
      ['a name that starts with a line separator', `${utf8('\u{2028}')}NAME=VALUE`],
      ['a name that starts with a next-line control', '\u{85}NAME=VALUE'],
      ['a name that starts with an encoded space', '%20NAME=VALUE'],
      ['a name that is percent-encoded', '__Host-Http-%6cr_login_ID=VALUE'],
      ['a name of another case', '__HOST-HTTP-LR_LOGIN_ID=VALUE'],
      ['a case that browsers do not protect', '__host-http-lr_login_ID=VALUE'],
      ['a quoted name', '"NAME"=VALUE'],
      ['inside the quoted value of another cookie', 'theme="NAME=VALUE"'],
      ['the value of another cookie', 'theme=NAME=VALUE'],
      ['the end of another name', 'xNAME=VALUE'],
      ['a cookie without a name', '=NAME=VALUE'],
      ['a comma-separated list', 'theme=dark, NAME=VALUE'],
      ['a cookie without a value', 'NAME'],
    ] as const) {
      it(`is not read from ${kind}`, async () => {
        expectRefusal(underTest(), (await finishAs(form)).answered, 'state_unknown');
      });
    }

    for (const [kind, ...headers] of [
      ['other cookies', 'a=b; NAME=VALUE; c=d'],
      ['quoted ones', 'a="b; c"; NAME=VALUE; d="e"'],
      ['one with a stray quote', 'a="b; NAME=VALUE'],
      ['two that each hold a stray quote', 'a="b; NAME=VALUE; c="d'],
      ['two whose quotes look as if they enclosed it', 'a="b; NAME=VALUE; c=d"'],
      ['one without an equals sign', 'a; NAME=VALUE; b'],
      ['names of properties of objects', '__proto__=x; NAME=VALUE; constructor=y; toString=z'],
      ['one that is not ASCII', 'a=\u{E9}\u{FF}; NAME=VALUE'],
      ['its own name inside the quoted value of another', 'a="NAME=x"; NAME=VALUE'],
      ['its own name inside the value of another', 'a=NAME=x; NAME=VALUE'],
      ['its own name at the end of another', 'xNAME=x; NAME=VALUE'],
      ['a second Cookie header', 'a=b', 'NAME=VALUE'],
    ] as const) {
      it(`is read together with ${kind}`, async () => {
        const { login, answered } = await finishAs(...headers);
        expectLogin(underTest(), answered, login);
      });
    }

    it('remembers finished logins, but does not trust this memory of the browser', async () => {
      const login = await browser.start();
      const idPrefix = login.cookie.name.slice(-16);
      const { name, value } = login.cookie;
      const tooMany = `${idPrefix}.`.repeat(100);
      for (const finished of [idPrefix, '', '.', tooMany, '"', '%', 'x'.repeat(4000)]) {
        const header = `__Host-Http-lr_login_finished=${finished}`;
        const refused = await finishWith(login, header);
        expectRefusal(underTest(), refused, 'state_finished', 'state_unknown');
      }
      // The memory only decides the wording of a failure. A login that can be finished is finished.
      const both = `__Host-Http-lr_login_finished=${idPrefix}; ${name}=${value}`;
      expectLogin(underTest(), await finishWith(login, both), login);
    });

    it('works together with a damaged memory of finished logins', async () => {
      for (const damaged of ['"', '..', 'é', '<script>', `${'0'.repeat(16)}.`.repeat(60)]) {
        browser.cookies.set('__Host-Http-lr_login_finished', damaged);
        const login = await browser.start();
        expectLogin(underTest(), await browser.finish(login), login);
        expect(browser.cookies.get('__Host-Http-lr_login_finished')).to.match(/^[0-9a-f.]{16,340}$/);
      }
    });

    describe('of 20 pending logins', () => {
      it('is kept, and each login finishes, in reverse order', async () => {
        const logins = await startMany(browser, 20);
        const kept = [...browser.cookies.keys()].filter((name) => /_[0-9a-f]{16}$/.test(name));
        expect(kept).to.deep.equal(logins.map(({ cookie }) => cookie.name));
        for (const login of logins.toReversed()) {
          expectLogin(underTest(), await browser.finish(login), login);
        }
      });

      it('is cleared by the next start if it is the oldest', async () => {
        const logins = await startMany(browser, 20);
        for (const [index, oldest] of logins.slice(0, 5).entries()) {
          const started = await browser.open(loginPath);
          const names = clearedCookies(started);
          expect(names, `start ${index + 21}`).to.deep.equal([oldest.cookie.name]);
        }
        const [cleared, kept] = logins.slice(4);
        if (!cleared || !kept) throw new Error('too few logins');
        expectRefusal(underTest(), await browser.finish(cleared), 'state_unknown');
        expectLogin(underTest(), await browser.finish(kept), kept);
      });

      it('are cleared 20 at a time, even if a client makes up many more', async () => {
        const madeUp = Array.from({ length: 390 }, (_, index) => {
          return `__Host-Http-lr_login_${index.toString(16).padStart(16, '0')}`;
        });
        const cookies: [string, string] = ['Cookie', madeUp.map((name) => `${name}=`).join('; ')];
        const headers = [...navigation, cookies];
        const started = await underTest().send({ path: loginPath, headers });
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
      expect(cookie?.attributes).to.deep.equal(attributes);
    });
  });
});

async function startMany(browser: FakeBrowser, count: number): Promise<Login[]> {
  const logins: Login[] = [];
  while (logins.length < count) logins.push(await browser.start());
  return logins;
}

/** The bytes of the text as Node's HTTP client writes them. */
function utf8(text: string): string {
  return Buffer.from(text).toString('latin1');
}
