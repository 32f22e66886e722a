import type { Agent } from 'node:http';
import { expect } from 'chai';
import { setCookies } from '../harness/browser/cookie-jar.ts';
import {
  callback,
  expectLogin,
  expectRefusal,
  FakeBrowser,
  type Login,
} from '../harness/browser/fake-browser.ts';
import { keepAliveAgent } from '../harness/client/http-client.ts';
import { sealLogin } from '../harness/login/sealed-login.ts';
import { callbackPath, relayUnderTest, secretFile } from '../harness/relay/relay-under-test.ts';

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
    it('altered, cut, extended or encoded in another way', async () => {
      const login = await browser.start('?state=front-end');
      const bytes = Buffer.from(login.state, 'base64url');
      const flipped = [4, bytes.length >> 1, bytes.length - 1].map((position) =>
        bytes.with(position, (bytes[position] ?? 0) ^ 0x80),
      );
      await expectAllRefused(login, [
        ...flipped.map((altered) => Buffer.from(altered).toString('base64url')),
        ...['', login.state.slice(0, 4), login.state.slice(0, -1), login.state.slice(1)],
        ...[`${login.state}A`, `A${login.state}`, `${login.state}${login.state}`],
        ...[4096, 4097, 8000].map((length) => login.state.padEnd(length, 'A')),
        ...[`${login.state}=`, `${login.state} `, ` ${login.state}`, `"${login.state}"`],
        ...[`${login.state}\n`, `${login.state}\0`, login.state.toLowerCase()],
        ...[bytes.toString('hex'), bytes.toString('latin1'), bytes.toString('base64')],
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
      const cut = login.state.length >> 1;
      await expectAllRefused(login, [
        login.state.slice(0, cut) + other.state.slice(cut),
        other.state.slice(0, cut) + login.state.slice(cut),
      ]);
      expectLogin(underTest(), await browser.finish(other), other);
    });
  });

  it('is accepted with equivalent percent-encoding', async () => {
    const login = await browser.start();
    const encoded = Buffer.from(login.state).toString('hex').replace(/../g, '%$&');
    const answer = await browser.open(`${callbackPath}?code=${login.code}&state=${encoded}`);
    expectLogin(underTest(), answer, login);
  });

  it('is refused if it was sealed with the right key for another client or redirect URI', async () => {
    for (const [sealing, isTaken] of [
      [{}, true],
      [{ clientId: 'client-2' }, false],
      [{ redirectUri: 'https://relay.example/auth/other/callback' }, false],
    ] as const) {
      const login = sealLogin(underTest().provider, { key, ...sealing });
      browser.cookies.set(login.cookie.name, login.cookie.value);
      const answer = await browser.finish(login);
      if (isTaken) expectLogin(underTest(), answer, login);
      else expectRefusal(underTest(), answer, 'state_altered');
      underTest().provider.forget();
    }
  });

  it('has expired after eleven minutes, even if the browser has dropped the cookie', async () => {
    const login = sealLogin(underTest().provider, { key, age: 11 * minute });
    expectRefusal(underTest(), await browser.finish(login), 'state_expired');
  });

  it('delivers an error of the provider only with its own cookie', async () => {
    const login = await browser.start();
    const path = callback({ error: 'access_denied', state: login.state });
    expectRefusal(underTest(), await new FakeBrowser(underTest).open(path), 'state_unknown');
    expectRefusal(underTest(), await browser.open(path), 'access_denied');
  });
});
