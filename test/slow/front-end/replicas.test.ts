import { expect } from 'chai';
import {
  certifiedProvider,
  type LoginProvider,
  startRelayFor,
} from '../../front-end/support/login-providers.ts';
import { OAuthPage } from '../../front-end/support/oauth4webapi-page.ts';
import { SessionPage, sessionFlags, sessionOf } from '../../harness/login/session-page.ts';
import { RefreshingProvider } from '../../harness/provider/refreshing-provider.ts';
import type { Flags } from '../../harness/relay/relay-process.ts';
import { type Relay, useRelays } from '../../harness/relay/relay-under-test.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Balancer, type BalancerKind } from '../deploy/support/balancer.ts';
import { kinds } from '../deploy/support/kinds.ts';

const tabs = 20;

/**
 * Three relays and their balancer, for the `describe` that this is called in.
 *
 * @param start starts a relay with these flags
 */
function useReplicas(kind: BalancerKind, start: (flags: Flags) => Promise<Relay>) {
  const replicas: Relay[] = [];
  let balancer: Balancer;
  before('start three relays and the balancer', async () => {
    const flags = { 'trusted-proxies': '127.0.0.1' };
    while (replicas.length < 3) replicas.push(await start(flags));
    const ports = replicas.map(({ port }) => port);
    balancer = await Balancer.start(kind, ports);
  });
  after('stop the balancer', () => balancer.stop());
  return {
    target: () => balancer,
    /** The replicas that got such a request. */
    asked: (request: string) =>
      replicas.filter(({ process }) =>
        process.logLines.some(({ route, method }) => `${method} ${route}` === request),
      ),
  };
}

for (const [name, kind] of Object.entries(kinds)) {
  const { describe } = needsPrograms(kind.program);

  describe(`20 tabs with one refresh token, at three replicas behind ${name}, as deploy has it`, () => {
    const tokenRequest = 'POST /auth/provider/token';
    const startRelay = useRelays();
    let provider: LoginProvider;
    before('start the provider', async () => {
      provider = await certifiedProvider();
    });
    const start = (flags: Flags) => startRelayFor(provider, startRelay, flags);
    const { target, asked } = useReplicas(kind, start);
    after('stop the provider', () => provider.close());

    it('refresh at once without a lock at one replica: one call, and all stay logged in', async () => {
      const page = await OAuthPage.open(target);
      const tokens = await page.logIn(target, provider);
      const calls = provider.tokenCalls();
      const refreshes = Array.from({ length: tabs }, () => page.anotherTab().refresh(tokens));
      for (const answer of await Promise.all(refreshes)) {
        expect(await page.lookUp(answer)).to.equal(200);
      }
      expect(provider.tokenCalls()).to.equal(calls + 1);
      expect(asked(tokenRequest)).to.have.lengthOf(1);
    });

    it('refresh at another replica when theirs is gone', async () => {
      const page = await OAuthPage.open(target);
      const tokens = await page.logIn(target, provider);
      const second = await page.refresh(tokens);
      for (const { process } of asked(tokenRequest)) await process.stop();
      // Until the balancer knows that the replica is gone, the page sees a network failure and tries again.
      const third = await eventually(() => page.refresh(second), 250);
      expect(await page.lookUp(third)).to.equal(200);
    });
  });

  describe(`20 tabs with one session, at three replicas behind ${name}, as deploy has it`, () => {
    const startRelay = useRelays();
    let provider: RefreshingProvider;
    let flags: Flags;
    before('start the provider', async () => {
      provider = await RefreshingProvider.start();
      flags = { ...provider.flags, ...(await sessionFlags()) };
    });
    const start = (more: Flags) =>
      startRelay({ client: provider.registration, flags: { ...flags, ...more } });
    const { target, asked } = useReplicas(kind, start);
    after('stop the provider', () => provider.stop());

    it('refresh at once at one replica: one call; and at another one when theirs is gone', async () => {
      const page = new SessionPage(target, provider);
      await page.logIn();
      // HAProxy knows the replica of an address from its second refresh on.
      sessionOf(await page.refresh());
      await page.logIn();
      const before = provider.credentials('refresh').length;
      const refreshes = Array.from({ length: tabs }, () => page.refresh());
      for (const answer of await Promise.all(refreshes)) sessionOf(answer);
      expect(provider.credentials('refresh')).to.have.lengthOf(before + 1);
      const sticky = asked('POST /auth/session/refresh');
      expect(sticky).to.have.lengthOf(1);
      for (const { process } of sticky) await process.stop();
      await eventually(async () => sessionOf(await page.refresh()), 250);
      expect((await page.lookUp()).status).to.equal(200);
    });
  });
}
