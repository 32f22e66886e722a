import { expect } from 'chai';
import type { FailureCode } from '../../src/errors.ts';
import type { Relay } from '../../src/relay/relay.ts';
import { clearedCookies } from '../harness/browser/cookie-jar.ts';
import { expectLogin, expectRefusal, FakeBrowser } from '../harness/browser/fake-browser.ts';
import { type Serving, serve } from '../harness/provider/serve.ts';
import { StrictProvider } from '../harness/provider/strict-provider.ts';
import { createRelayHere } from '../harness/relay/relay-in-process.ts';
import { baseUrl, registration } from '../harness/relay/relay-under-test.ts';

const minute = 60;

describe('a login over time', () => {
  const start = 1_800_000_000;
  let seconds = start;
  let provider: StrictProvider;
  let relay: Relay;
  let server: Serving;
  let browser: FakeBrowser;
  let target: { port: number; provider: StrictProvider };

  before(async () => {
    provider = await StrictProvider.start(registration());
    const { clientId, clientSecret } = provider.registration;
    const { authorizeUrl, tokenUrl, userUrl } = provider;
    const flags = { baseUrl, clientId, clientSecret, authorizeUrl, tokenUrl, userUrl };
    relay = await createRelayHere(
      flags,
      () => {},
      () => seconds * 1000,
    );
    server = await serve(relay.listener);
    target = { port: server.port, provider };
  });
  after(async () => {
    await server.close();
    relay.close();
    await provider.stop();
  });
  beforeEach(() => {
    seconds = start;
    browser = new FakeBrowser(() => target);
  });
  afterEach(() => {
    expect(provider.violations).to.deep.equal([]);
    provider.forget();
  });

  for (const [elapsed, what] of [
    [9 * minute, 'after nine minutes'],
    [10 * minute, 'after ten minutes to the second'],
    [-59, 'by a clock that is 59 seconds behind'],
    [59, 'by a clock that is 59 seconds ahead'],
    [-60, 'by a clock that is a minute behind'],
  ] as const) {
    it(`finishes ${what}`, async () => {
      const login = await browser.start();
      seconds = start + elapsed;
      expectLogin(target, await browser.finish(login), login);
    });
  }

  const failures: [elapsed: number, what: string, failure: FailureCode][] = [
    [11 * minute, 'after eleven minutes', 'state_expired'],
    [10 * minute + 1, 'a second after ten minutes', 'state_expired'],
    [-61, 'by a clock that is 61 seconds behind', 'state_premature'],
    [-10 * minute, 'by a clock that is ten minutes behind', 'state_premature'],
  ];
  for (const [elapsed, what, failure] of failures) {
    it(`fails ${what}, and a new start succeeds`, async () => {
      const login = await browser.start();
      seconds = start + elapsed;
      const answer = await browser.finish(login);
      expectRefusal(target, answer, failure);
      expect(clearedCookies(answer)).to.deep.equal([login.cookie.name]);

      const again = await browser.start();
      expectLogin(target, await browser.finish(again), again);
    });
  }

  it('does not affect a newer login when it expires', async () => {
    const old = await browser.start();
    seconds += 6 * minute;
    const young = await browser.start();
    seconds += 6 * minute;
    expectRefusal(target, await browser.finish(old), 'state_expired');
    expectLogin(target, await browser.finish(young), young);
  });
});
