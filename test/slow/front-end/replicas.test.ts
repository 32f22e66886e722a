import { expect } from 'chai';
import {
  certifiedProvider,
  type LoginProvider,
  startRelayFor,
} from '../../front-end/support/login-providers.ts';
import { OAuthPage } from '../../front-end/support/oauth4webapi-page.ts';
import { type Relay, useRelays } from '../../harness/relay/relay-under-test.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Balancer, type BalancerKind } from '../deploy/support/balancer.ts';
import { caddy } from '../deploy/support/caddy.ts';
import { haproxy } from '../deploy/support/haproxy.ts';
import { nginx } from '../deploy/support/nginx.ts';

const tabs = 20;

/** Three relays with one key file, at oidc-provider, for the `describe` that this is called in. */
function useReplicas() {
  const startRelay = useRelays();
  const replicas: Relay[] = [];
  let running: LoginProvider | undefined;
  before('start the provider and three relays', async () => {
    const provider = await certifiedProvider();
    running = provider;
    const flags = { 'trusted-proxies': '127.0.0.1' };
    for (let count = 0; count < 3; count += 1) {
      replicas.push(await startRelayFor(provider, startRelay, flags));
    }
  });
  after('stop the provider', () => running?.close());
  return {
    replicas,
    get provider(): LoginProvider {
      if (running === undefined) throw new Error('the provider has not started');
      return running;
    },
  };
}

const kinds: Readonly<Record<string, BalancerKind>> = { HAProxy: haproxy, nginx, Caddy: caddy };

for (const [name, kind] of Object.entries(kinds)) {
  const { describe } = needsPrograms(kind.program);

  describe(`20 tabs with one refresh token, at three replicas behind ${name}, as deploy has it`, () => {
    const site = useReplicas();
    let balancer: Balancer;
    const target = () => balancer;

    before('start the balancer', async () => {
      const ports = site.replicas.map(({ port }) => port);
      balancer = await Balancer.start(kind, ports);
    });
    after('stop the balancer', () => balancer.stop());

    /** The replicas that got token requests. */
    const asked = () =>
      site.replicas.filter(({ process }) =>
        process.logLines.some(({ route, method }) => `${method} ${route}` === tokenRequest),
      );

    it('refresh at once without a lock at one replica: one call, and all stay logged in', async () => {
      const page = await OAuthPage.open(target);
      const tokens = await page.logIn(target, site.provider);
      const calls = site.provider.tokenCalls();
      const refreshes = Array.from({ length: tabs }, () => page.anotherTab().refresh(tokens));
      for (const answer of await Promise.all(refreshes)) {
        expect(await page.lookUp(answer)).to.equal(200);
      }
      expect(site.provider.tokenCalls()).to.equal(calls + 1);
      expect(asked()).to.have.lengthOf(1);
    });

    it('refresh at another replica when theirs is gone', async () => {
      const page = await OAuthPage.open(target);
      const tokens = await page.logIn(target, site.provider);
      const second = await page.refresh(tokens);
      for (const { process } of asked()) await process.stop();
      // Until the balancer knows that the replica is gone, the page sees a network failure and tries again.
      const third = await eventually(() => page.refresh(second), 250);
      expect(await page.lookUp(third)).to.equal(200);
    });
  });
}

const tokenRequest = 'POST /auth/provider/token';
