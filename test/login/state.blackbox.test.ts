import type { Agent } from 'node:http';
import { expect } from 'chai';
import { clearedCookies, setCookies } from '../harness/browser/cookie-jar.ts';
import {
  callback,
  expectLogin,
  expectRefusal,
  FakeBrowser,
  type Login,
} from '../harness/browser/fake-browser.ts';
import { keepAliveAgent } from '../harness/client/http-client.ts';
import { type Sealing, sealLogin } from '../harness/login/sealed-login.ts';
import {
  callbackPath,
  redirectUri,
  relayUnderTest,
  secretFile,
} from '../harness/relay/relay-under-test.ts';

const key = 'the-current-key-of-this-very-relay-1';
const minute = 60;

describe('the state of a login', () => {
  const underTest = relayUnderTest(async () => ({ 'key-file': await secretFile(key) }));
  let agent: Agent;
  let browser: FakeBrowser;
  before(() => {
    agent = keepAliveAgent(1);
  });
  after(() => agent.destroy());
  beforeEach(() => {
    browser = new FakeBrowser(underTest, { agent });
  });

  /** Opens a callback with each state. The relay must refuse all, and the login must still be finishable. */
  async function expectAllRefused(login: Login, states: Iterable<string>): Promise<void> {
    let count = 0;
    for (const state of states) {
      if (state === login.state) throw new Error('this state is the genuine one');
      const answer = await browser.finish({ code: login.code, state });
      if (state === '') expectRefusal(underTest(), answer, 'state_missing');
      // With an altered id, the browser did not start this login. With an altered time, the login is too old.
      else expectRefusal(underTest(), answer, 'state_altered', 'state_unknown', 'state_expired');
      expect(setCookies(answer)).to.deep.equal([]);
      count += 1;
    }
    expect(count).to.be.greaterThan(0);
    expectLogin(underTest(), await browser.finish(login), login);
  }

  describe('is refused, and the login can still be finished, if it was', () => {
    for (const mask of [0x01, 0x80, 0xff]) {
      it(`altered in any one byte (by ${mask.toString(2).padStart(8, '0')})`, async () => {
        const login = await browser.start('?state=front-end');
        const genuine = Buffer.from(login.state, 'base64url');
        await expectAllRefused(
          login,
          genuine
            .map((_, index) => index)
            .values()
            .map((index) => {
              const altered = Buffer.from(genuine);
              altered.writeUInt8(altered.readUInt8(index) ^ mask, index);
              return altered.toString('base64url');
            }),
        );
      });
    }

    it('cut short to any number of characters', async () => {
      const login = await browser.start('?state=front-end');
      const lengths = Array.from({ length: login.state.length }, (_, length) => length);
      await expectAllRefused(
        login,
        lengths.map((length) => login.state.slice(0, length)),
      );
    });

    it('cut short at its beginning', async () => {
      const login = await browser.start('?state=front-end');
      const starts = Array.from({ length: login.state.length - 1 }, (_, index) => index + 1);
      await expectAllRefused(
        login,
        starts.map((start) => login.state.slice(start)),
      );
    });

    it('extended', async () => {
      const login = await browser.start('?state=front-end');
      const genuine = Buffer.from(login.state, 'base64url');
      const extra = Buffer.alloc(3);
      await expectAllRefused(login, [
        `${login.state}A`,
        `${login.state}AAAA`,
        `A${login.state}`,
        `${login.state}${login.state}`,
        login.state.padEnd(4096, 'A'),
        login.state.padEnd(4097, 'A'),
        login.state.padEnd(8000, 'A'),
        Buffer.concat([genuine, extra]).toString('base64url'),
        Buffer.concat([genuine.subarray(0, -32), extra, genuine.subarray(-32)]).toString(
          'base64url',
        ),
      ]);
    });

    // These states leave two bits unused, and four.
    for (const frontEndState of ['a', 'aa']) {
      it(`encoded with bits that base64url leaves unused (with "${frontEndState}")`, async () => {
        const login = await browser.start(`?state=${frontEndState}`);
        const genuine = Buffer.from(login.state, 'base64url');
        const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
        const variants = [...alphabet]
          .map((last) => login.state.slice(0, -1) + last)
          .filter((state) => state !== login.state)
          .filter((state) => Buffer.from(state, 'base64url').equals(genuine));
        expect(variants.length).to.be.oneOf([3, 15]);
        await expectAllRefused(login, variants);
      });
    }

    it('encoded in another way', async () => {
      // A state with both characters in which base64 and base64url differ.
      let login = await browser.start();
      while (!/-/.test(login.state) || !/_/.test(login.state)) login = await browser.start();
      const genuine = Buffer.from(login.state, 'base64url');
      const base64 = genuine.toString('base64');
      await expectAllRefused(login, [
        base64,
        base64.replace(/=+$/, ''),
        login.state.replace('-', '+'),
        login.state.replace('_', '/'),
        ...[`${login.state}=`, `${login.state}==`, `${login.state} `, ` ${login.state}`],
        ...[`${login.state}\n`, `${login.state}\0`],
        `${login.state.slice(0, 40)} ${login.state.slice(40)}`,
        ...[`${login.state.slice(0, 40)}.${login.state.slice(40)}`, `"${login.state}"`],
        genuine.toString('hex'),
        genuine.toString('latin1'),
        login.state.toLowerCase(),
        login.state.toUpperCase(),
        encodeURIComponent(encodeURIComponent(`${login.state}%`)),
      ]);
    });

    it('not percent-encoded text at all', async () => {
      const login = await browser.start();
      for (const state of ['%', '%zz', '%ff', '%c3', '%ed%a0%80', `${login.state}%`]) {
        const answer = await browser.open(`${callbackPath}?code=${login.code}&state=${state}`);
        expectRefusal(underTest(), answer, 'state_altered');
      }
      expectLogin(underTest(), await browser.finish(login), login);
    });

    it('mixed with the state of another pending login of the same browser', async () => {
      const login = await browser.start('?state=one');
      const other = await browser.start('?state=two');
      const cuts = Array.from({ length: login.state.length - 1 }, (_, index) => index + 1);
      const mixed = cuts.flatMap((cut) => [
        login.state.slice(0, cut) + other.state.slice(cut),
        other.state.slice(0, cut) + login.state.slice(cut),
      ]);
      const genuine = [login.state, other.state];
      await expectAllRefused(
        login,
        mixed.filter((state) => !genuine.includes(state)),
      );
      expectLogin(underTest(), await browser.finish(other), other);
    });
  });

  it('is accepted with equivalent percent-encoding', async () => {
    const login = await browser.start();
    const encoded = Buffer.from(login.state).toString('hex').replace(/../g, '%$&');
    const answer = await browser.open(`${callbackPath}?code=${login.code}&state=${encoded}`);
    expectLogin(underTest(), answer, login);
  });

  describe('sealed with the right key', () => {
    async function finishSealed(sealing: Omit<Sealing, 'key'> & { key?: string }) {
      const login = sealLogin(underTest().provider, { key, ...sealing });
      browser.cookies.set(login.cookie.name, login.cookie.value);
      return { login, answer: await browser.finish(login) };
    }

    it('is taken', async () => {
      const { login, answer } = await finishSealed({});
      expectLogin(underTest(), answer, login);
    });

    it('is taken after nine minutes', async () => {
      const { login, answer } = await finishSealed({ age: 9 * minute });
      expectLogin(underTest(), answer, login);
    });

    it('has expired after eleven minutes, and its cookie goes', async () => {
      const { login, answer } = await finishSealed({ age: 11 * minute });
      expectRefusal(underTest(), answer, 'state_expired');
      expect(clearedCookies(answer)).to.deep.equal([login.cookie.name]);
    });

    it('has expired even if the browser has dropped the cookie', async () => {
      const login = sealLogin(underTest().provider, { key, age: 11 * minute });
      expectRefusal(underTest(), await browser.finish(login), 'state_expired');
    });

    it('is refused if its time is ten minutes ahead', async () => {
      const { answer } = await finishSealed({ age: -10 * minute });
      expectRefusal(underTest(), answer, 'state_premature');
    });

    for (const [audience, sealing] of Object.entries<Omit<Sealing, 'key'> & { key?: string }>({
      'another client': { clientId: 'client-2' },
      'a client whose name has the same beginning': { clientId: 'client-' },
      'another redirect URI': { redirectUri: 'https://relay.example/auth/other/callback' },
      'another relay': { redirectUri: 'https://other.example/auth/provider/callback' },
      'a client and a redirect URI with the boundary moved': {
        clientId: `client-1${redirectUri.slice(0, 1)}`,
        redirectUri: redirectUri.slice(1),
      },
      'the same client with another key': { key: 'some-other-key-of-32-characters-or-so' },
      'the same client with a longer key': { key: `${key}1` },
      'the same client with the key and its newline': { key: `${key}\n` },
    })) {
      it(`is refused if it was sealed for ${audience}`, async () => {
        const { answer } = await finishSealed(sealing);
        expectRefusal(underTest(), answer, 'state_altered');
      });
    }
  });

  it('delivers an error of the provider only with its own cookie', async () => {
    const login = await browser.start();
    const path = callback({ error: 'access_denied', state: login.state });
    expectRefusal(underTest(), await new FakeBrowser(underTest).open(path), 'state_unknown');
    expectRefusal(underTest(), await browser.open(path), 'access_denied');
  });
});
