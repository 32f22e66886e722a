import { expect } from 'chai';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Balancer } from '../deploy/support/balancer.ts';
import { identity, type Relay, startRelay } from '../deploy/support/guarded-application.ts';
import { guards } from '../deploy/support/kinds.ts';
import { type Door, Exchanges } from './support/exchanges.ts';
import { rawRequests } from './support/requests.ts';

/** Milliseconds that a proxy may wait for the rest of what it takes for a request, until its client leaves. */
const patience = 500;

/** A proxy that asks the relay, in front of an application that reads strictly. */
class Guard extends Exchanges {
  /** Lets the person of this token in. */
  admit(token: string): Door {
    const [, user = ''] = identity.find(([name]) => name === 'X-Forwarded-User') ?? [];
    const credentials = [`Authorization: Bearer ${token}`];
    this.honest = { host: 'notes.example.com', path: '/mcp', credentials, user };
    return this.honest;
  }
}

let guard: Guard;
for (const [name, kind] of Object.entries(guards(() => guard.upstream.port))) {
  const { describe } = needsPrograms(kind.program);

  describe(`raw bytes, through ${name}, which asks the relay as in deploy`, function () {
    this.timeout(300_000);
    let relay: Relay;
    let proxy: Balancer;

    before('start them', async () => {
      guard = new Guard();
      relay = await startRelay();
      await guard.upstream.start();
      proxy = await Balancer.start(kind, [relay.port]);
    });
    after('stop them', async () => {
      await proxy.stop();
      await Promise.all([relay.close(), guard.upstream.stop()]);
    });

    it('are one request or none', async () => {
      const door = guard.admit(relay.token);
      const failed: string[] = [];
      for (const one of rawRequests) {
        guard.upstream.forget();
        try {
          await guard.exchange(proxy.port, one.bytes(door), one.method, patience);
          guard.expectOneAtMost(door);
          // The relay is asked about what was sent, and by nobody but the proxy.
          expect(relay.violations.splice(0)).to.deep.equal([]);
        } catch (error) {
          failed.push(`${one.name}: ${error}`);
        }
      }
      expect(failed).to.deep.equal([]);
    });
  });
}
