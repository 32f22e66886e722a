import { expect } from 'chai';
import { newProofKey } from '../../harness/client/proof.ts';
import { OAuthPage, tokensOf } from '../../harness/login/oauth-page.ts';
import { SessionPage, sessionOf } from '../../harness/login/session-page.ts';
import type { Flags, LogLine } from '../../harness/relay/relay-process.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { startedOnce } from '../../harness/system/started-once.ts';
import { Balancer, type BalancerKind } from '../deploy/support/balancer.ts';
import { kinds } from '../deploy/support/kinds.ts';
import { Relays, withSessions } from '../shared-memory/support/relays.ts';

const tabs = Array.from({ length: 20 });

/** Three relays, which share no memory, and their balancer for the `describe` that this is called in. */
function useReplicas(kind: BalancerKind, flags: Flags = {}) {
  return startedOnce(
    'three relays and the balancer',
    async () => {
      const relays = await Relays.start(3, { 'trusted-proxies': '127.0.0.1', ...flags });
      const ports = relays.each.map(({ port }) => port);
      return { relays, provider: relays.provider, balancer: await Balancer.start(kind, ports) };
    },
    async ({ balancer, relays }) => {
      await balancer.stop();
      await relays.stop();
    },
  );
}

/** The only replica that got such requests, once it has logged one for each tab. */
async function onlyAsked({ relays }: { readonly relays: Relays }, request: string) {
  const isSuch = ({ route, method }: LogLine) => `${method} ${route}` === request;
  const counts = () => relays.each.map(({ process }) => process.logLines.filter(isSuch).length);
  return await eventually(async () => {
    expect(Math.max(...counts())).to.be.at.least(tabs.length);
    expect(counts().filter((count) => count > 0)).to.have.lengthOf(1);
    return relays.at(counts().findIndex((count) => count > 0));
  });
}

for (const [name, kind] of Object.entries(kinds)) {
  const { describe } = needsPrograms(kind.program);

  describe(`20 tabs with one refresh token, at three replicas behind ${name}, as deploy has it`, () => {
    const replicas = useReplicas(kind);

    it('refresh at once with one call at one replica, and at another replica when this one has stopped', async () => {
      const { balancer, provider } = replicas();
      const page = new OAuthPage(balancer, provider, await newProofKey());
      const { refreshToken } = await page.logIn();
      const answers = await Promise.all(tabs.map(() => page.refresh(refreshToken)));
      const [second] = answers.map(tokensOf);
      expect(provider.credentials('refresh')).to.have.lengthOf(1);
      const sticky = await onlyAsked(replicas(), 'POST /auth/provider/token');
      await sticky.process.stop();
      // Until the balancer notices that the replica has stopped, the page gets a network failure and tries again.
      const third = await eventually(async () => tokensOf(await page.refresh(second?.refreshToken ?? '')), 250);
      expect(provider.accepts(third.accessToken)).to.equal(true);
    });
  });

  describe(`20 tabs with one session, at three replicas behind ${name}, as deploy has it`, () => {
    const replicas = useReplicas(kind, withSessions);

    it('refresh at once with one call at one replica, and at another replica when this one has stopped', async () => {
      const { balancer, provider } = replicas();
      const page = new SessionPage(() => balancer, provider);
      await page.logIn();
      // HAProxy knows the replica of an address from its second refresh on.
      sessionOf(await page.refresh());
      await page.logIn();
      const before = provider.credentials('refresh').length;
      for (const answer of await Promise.all(tabs.map(() => page.refresh()))) sessionOf(answer);
      expect(provider.credentials('refresh')).to.have.lengthOf(before + 1);
      const sticky = await onlyAsked(replicas(), 'POST /auth/session/refresh');
      await sticky.process.stop();
      await eventually(async () => sessionOf(await page.refresh()), 250);
      expect((await page.lookUp()).status).to.equal(200);
    });
  });
}
