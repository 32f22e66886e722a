import { expect } from 'chai';
import {
  callback,
  expectLogin,
  expectRefusal,
  FakeBrowser,
  type Login,
  navigation,
} from '../harness/browser/fake-browser.ts';
import type { Answer } from '../harness/client/http-client.ts';
import { RawConnection } from '../harness/client/raw-connection.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectError } from '../harness/expect/expectations.ts';
import type { StrictProvider } from '../harness/provider/strict-provider.ts';
import { relayUnderTest, startRelay } from '../harness/relay/relay-under-test.ts';

/** Holds the next exchanges. The promise resolves, once one has arrived, with a function that answers it. */
function holdExchange(provider: StrictProvider): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<() => void>();
  provider.onToken = (response, call) => resolve(() => provider.issueToken(response, call));
  return promise;
}

describe('a callback that is opened more than once', () => {
  const underTest = relayUnderTest();
  let browser: FakeBrowser;
  beforeEach(() => {
    browser = new FakeBrowser(underTest);
  });

  /** The bytes of a callback from a browser that has not received an earlier answer. */
  function bytesOf({ code, state, cookie }: Login, otherCode = code): string {
    const headers = [...navigation, ['Cookie', `${cookie.name}=${cookie.value}`]];
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    return `GET ${callback({ code: otherCode, state })} HTTP/1.1\r\nHost: a\r\n${lines}\r\n`;
  }

  /** Opens a callback on a connection of its own. */
  async function openAlone(request: string): Promise<RawConnection> {
    return (await RawConnection.open(underTest().port)).say(request);
  }

  /** Returns once the relay has read all that was sent before. */
  async function allIsRead(): Promise<void> {
    for (let time = 0; time < 3; time += 1) await underTest().get('/healthz');
  }

  /** Opens the callback with the cookie that it had before its answer cleared it. */
  async function repeat(login: Login): Promise<Answer> {
    browser.cookies.set(login.cookie.name, login.cookie.value);
    return await browser.finish(login);
  }

  it('sends no second code while the first code is in flight, even if the codes differ', async () => {
    const { provider } = underTest();
    const login = await browser.start();
    const held = holdExchange(provider);
    const first = await openAlone(bytesOf(login));
    const proceed = await held;
    const others = [await openAlone(bytesOf(login)), await openAlone(bytesOf(login, canary('code')))];
    await allIsRead();
    proceed();
    for (const connection of [first, ...others]) {
      await connection.hear('HTTP/1.1 307 ');
      connection.close();
    }
    expect(provider.credentials('token')).to.deep.equal([login.code]);
  });

  it('is refused without a call if it waited on the same connection behind the callback that finished the login', async () => {
    const login = await browser.start();
    const connection = await openAlone(bytesOf(login) + bytesOf(login, canary('code')));
    await connection.hear('HTTP/1.1 307 ');
    await connection.hear('HTTP/1.1 400 ');
    expect(underTest().provider.credentials('token')).to.deep.equal([login.code]);
    connection.close();
  });

  it('gets the result of the first exchange if its client closed the connection before', async () => {
    const { provider } = underTest();
    const login = await browser.start();
    const held = holdExchange(provider);
    const left = await openAlone(bytesOf(login));
    const proceed = await held;
    left.close();
    const reloaded = await openAlone(bytesOf(login));
    await allIsRead();
    proceed();
    await reloaded.hear('HTTP/1.1 307 ');
    expect(provider.credentials('token')).to.deep.equal([login.code]);
    reloaded.close();
  });

  it('finishes the login if the first callback had no code', async () => {
    const login = await browser.start();
    expectError(await browser.open(callback({ state: login.state })), 400);
    expectLogin(underTest(), await repeat(login), login);
  });
});

describe('a callback that waits for its turn and is opened again', () => {
  const flags = { 'trusted-proxies': '127.0.0.1', 'refused-exchanges': '1' };
  const underTest = relayUnderTest(flags);
  const headers: [string, string][] = [...navigation, ['X-Forwarded-For', '198.51.100.1']];

  it('gets the token of the same exchange as the first callback', async () => {
    const browser = new FakeBrowser(underTest);
    const { provider } = underTest();
    const held = holdExchange(provider);
    const other = new FakeBrowser(underTest);
    const answered = other.finish(await other.start(), { headers });
    const proceed = await held;
    provider.onToken = (response, call) => provider.issueToken(response, call);
    const login = await browser.start();
    const opened = [browser.finish(login, { headers }), browser.finish(login, { headers })];
    // Once the relay has answered this, it has read both.
    for (let time = 0; time < 3; time += 1) await underTest().get('/healthz');
    proceed();
    await answered;
    for (const answer of await Promise.all(opened)) expectLogin(underTest(), answer, login);
    const codes = provider.credentials('token');
    expect(codes.filter((code) => code === login.code)).to.have.lengthOf(1);
  });
});

it('a callback that is repeated after a reload of the configuration makes no call', async () => {
  const underTest = await startRelay();
  const browser = new FakeBrowser(() => underTest);
  const login = await browser.start();
  expectLogin(underTest, await browser.finish(login), login);
  underTest.provider.forget();
  await underTest.reload();
  browser.cookies.set(login.cookie.name, login.cookie.value);
  expectRefusal(underTest, await browser.finish(login), 'state_finished');
  await underTest.stop();
});
