import { expect } from 'chai';
import {
  expectLogin,
  expectNoneRemembered,
  FakeBrowser,
  navigation,
} from '../protection/support/fake-browser.ts';
import { needs } from '../release/support/run.ts';
import { canary } from '../support/canaries.ts';
import { expectError, expectUser } from '../support/expectations.ts';
import { send } from '../support/http-client.ts';
import type { RelayProcess } from '../support/relay-process.ts';
import {
  callbackPath,
  flagsFor,
  listening,
  loginPath,
  registration,
  userPath,
  withSecretFile,
} from '../support/relay-under-test.ts';
import { StrictProvider } from '../support/strict-provider.ts';
import { Balancer, type BalancerKind } from './support/balancer.ts';
import { haproxy } from './support/haproxy.ts';

const kinds: Readonly<Record<string, BalancerKind>> = { haproxy };

for (const [name, kind] of Object.entries(kinds)) {
  describe(`${name}, as deploy has it, in front of two relays`, () => {
    needs(kind.program);
    let provider: StrictProvider;
    let relays: { relay: RelayProcess; port: number }[];
    let balancer: Balancer;

    before('start the relays and the balancer', async () => {
      provider = await StrictProvider.start(registration());
      relays = await withSecretFile(provider.registration.clientSecret, (file) =>
        Promise.all([1, 2].map(() => listening({ flags: flagsFor(provider, file) }))),
      );
      const ports = relays.map(({ port }) => port);
      balancer = await Balancer.start(kind, ports);
    });
    beforeEach(() => provider.forget());
    after('stop them', async () => {
      await balancer.stop();
      await Promise.all(relays.map(({ relay }) => relay.stop()));
      await provider.stop();
    });

    const target = () => ({ port: balancer.port, provider });

    async function logIn(query = ''): Promise<void> {
      const browser = new FakeBrowser(target);
      const login = await browser.start(query);
      expectLogin(target(), await browser.finish(login), login);
    }

    async function lookUp() {
      const authorization: [string, string] = ['Authorization', `Bearer ${canary('token')}`];
      return await send(balancer.port, { path: userPath, headers: [authorization] });
    }

    it('passes logins and lookups on, to either relay', async () => {
      for (let time = 0; time < 4; time += 1) {
        await logIn();
        expectUser(await lookUp());
      }
      for (const { relay } of relays) {
        await relay.logLine(({ route }) => route === userPath || route === callbackPath);
      }
      expect(provider.violations).to.deep.equal([]);
    });

    it('passes the longest state and code on that the relay takes, and leaves longer ones to it', async () => {
      await logIn(`?state=${encodeURIComponent('\u{1f511}'.repeat(512))}`);
      const path = (length: number) => `${callbackPath}?code=${'a'.repeat(length)}`;
      expect((await send(balancer.port, { path: path(4096) })).status).to.equal(307);
      const tooLong = await send(balancer.port, { path: path(4097) });
      expect(expectError(tooLong, 400)).to.match(/too long/);
    });

    it('writes neither codes, tokens, states nor cookies to its log', async () => {
      await logIn('?state=the-state-of-the-front-end');
      await send(balancer.port, { path: `${callbackPath}?code=${canary('code')}&code=` });
      await send(balancer.port, {
        path: `${userPath}?access_token=${canary('token')}`,
        headers: [
          ...navigation,
          ['Referer', `https://app.example/?access_token=${canary('token')}`],
        ],
      });
      await send(balancer.port, { path: `/the-end?code=${canary('code')}` });
      const log = await balancer.logged('/the-end');
      expect(log).to.contain(loginPath).and.contain(callbackPath).and.contain(userPath);
      expect(log).not.to.match(/c4n4ry|the-state-of/);
      expectNoneRemembered(log);
    });
  });
}
