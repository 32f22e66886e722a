import { expect } from 'chai';
import { setCookies } from '../../harness/browser/cookie-jar.ts';
import { expectLogin, FakeBrowser } from '../../harness/browser/fake-browser.ts';
import type { Answer } from '../../harness/client/http-client.ts';
import { RawConnection } from '../../harness/client/raw-connection.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { expectError, expectToken, expectUser } from '../../harness/expect/expectations.ts';
import { reset } from '../../harness/provider/provider-behaviours.ts';
import { userRecord } from '../../harness/provider/strict-provider.ts';
import { callbackPath, expectService, relayUnderTest, userPath } from '../../harness/relay/relay-under-test.ts';

/** The limit of calls to the provider in flight. */
const limit = 256;
/** The limit of lookups among them. */
const lookupLimit = 192;

describe('overload', () => {
  const underTest = relayUnderTest({ 'provider-timeout': '60' });

  /** Makes the provider hold every call. The result releases them. */
  function holdCalls(): () => void {
    const { provider } = underTest();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    provider.onToken = (...call) => void released.then(() => provider.issueToken(...call));
    provider.onUser = (...call) => void released.then(() => userRecord(...call));
    return release;
  }

  /** Starts as many logins and lookups as the limit allows, and waits until they are in flight. */
  async function fill(): Promise<Promise<Answer>[]> {
    const answers = Array.from({ length: limit }, (_, index) =>
      index % 2 ? underTest().logIn() : underTest().lookUp(),
    );
    await underTest().provider.arrivals(limit);
    return answers;
  }

  it('does not end a login, whose cookie and code stay valid for the next try', async () => {
    const release = holdCalls();
    const browser = new FakeBrowser(underTest);
    const login = await browser.start();
    const answers = await fill();
    const refused = await browser.finish(login);
    expect(expectError(refused, 503)).to.contain('Try again');
    expect(setCookies(refused)).to.deep.equal([]);
    release();
    await Promise.all(answers);
    expectLogin(underTest(), await browser.finish(login), login);
  });

  it('is answered with 503 at once, and lookups leave a quarter of the calls to logins', async () => {
    const { provider } = underTest();
    const release = holdCalls();
    const lookups = Array.from({ length: lookupLimit }, () => underTest().lookUp());
    await provider.arrivals(lookupLimit);
    const refused = await underTest().lookUp();
    expectError(refused, 503);
    expect(refused.headers['retry-after']).to.match(/^[1-9]\d*$/);

    const logins = Array.from({ length: limit - lookupLimit }, () => underTest().logIn());
    await provider.arrivals(limit);
    expectError(await underTest().logIn(), 503);
    expect(provider.calls, 'calls at the provider').to.have.lengthOf(limit);
    release();
    for (const answered of await Promise.all(lookups)) expectUser(answered);
    for (const answered of await Promise.all(logins)) expectToken(answered);
    await expectService(underTest());
  });

  it('also ends when calls fail', async () => {
    const { provider } = underTest();
    for (let time = 0; time < 2; time += 1) {
      provider.forget();
      holdCalls();
      const answers = await fill();
      // A retry on a new connection fails too.
      provider.onToken = reset;
      provider.onUser = reset;
      for (const socket of provider.openSockets) socket.resetAndDestroy();
      for (const answered of await Promise.all(answers)) expectError(answered, 502);
    }
    provider.forget();
    expectUser(await underTest().lookUp());
  });

  describe('if clients close their connections', () => {
    function ask(path: string, authorization = ''): Promise<RawConnection> {
      const request = `GET ${path} HTTP/1.1\r\nHost: a\r\n${authorization}\r\n`;
      return RawConnection.open(underTest().port).then((connection) => connection.say(request));
    }

    it('ends for lookups, whose calls are cancelled so that other calls can be made', async () => {
      const { provider, process } = underTest();
      holdCalls();
      const authorization = `Authorization: Bearer ${canary('token')}\r\n`;
      const clients = await Promise.all(Array.from({ length: lookupLimit }, () => ask(userPath, authorization)));
      await provider.arrivals(lookupLimit);
      expectError(await underTest().lookUp(), 503);
      for (const client of clients) client.close();
      while (provider.openSockets.length > 0) await new Promise(setImmediate);

      provider.onUser = userRecord;
      expectUser(await underTest().lookUp());
      const line = await process.logLine(({ outcome }) => outcome === 'client_gone');
      expect(line).to.include({ route: userPath, status: 499, level: 'info' });
      expect(line['provider']).to.include({ endpoint: 'user', outcome: 'client_gone' });
    });

    it('waits for logins, because their codes may be spent', async () => {
      const { provider, process } = underTest();
      const release = holdCalls();
      const client = await ask(`${callbackPath}?code=${canary('code')}`);
      await provider.arrivals(1);
      client.close();
      await client.closed;
      // Once the relay has answered this, it knows that the other client has disconnected.
      await underTest().get('/healthz');
      release();
      const line = await process.logLine(({ outcome, route }) => outcome === 'client_gone' && route === callbackPath);
      expect(line['provider']).to.include({ endpoint: 'token', outcome: 'answered', status: 200 });
    });
  });
});
