import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { type Serving, serveTcp } from '../../harness/provider/serve.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Balancer } from '../deploy/support/balancer.ts';
import { identity, type Relay, startRelay } from '../deploy/support/guarded-application.ts';
import { guards } from '../deploy/support/kinds.ts';
import { type Door, Exchanges } from './support/exchanges.ts';
import { bytesOf, rawFrames } from './support/frames.ts';
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

    /** Runs each case, and names those that fail. */
    async function each<Case extends { readonly name: string }>(
      cases: readonly Case[],
      send: (one: Case, door: Door) => Promise<unknown>,
    ): Promise<void> {
      const door = guard.admit(relay.token);
      const failed: string[] = [];
      for (const one of cases) {
        guard.upstream.forget();
        try {
          await send(one, door);
          guard.expectOneAtMost(door);
          // The relay is asked about what was sent, and by nobody but the proxy.
          expect(relay.violations.splice(0)).to.deep.equal([]);
        } catch (error) {
          failed.push(`${one.name}: ${error}`);
        }
      }
      expect(failed).to.deep.equal([]);
    }

    it('are one request or none', async () => {
      await each(rawRequests, (one, door) => guard.exchange(proxy.port, one.bytes(door), one.method, patience));
    });

    // The other templates turn HTTP/2 off. They say why.
    if (name !== 'nginx') return;
    it('are one request or none, by HTTP/2', async () => {
      const tunnel = await tunnelTo(proxy.tlsPort);
      await each(rawFrames, (one, door) => guard.exchangeFrames(tunnel.port, bytesOf(one, door), patience));
      await tunnel.close();
    });
  });
}

/** Carries HTTP/2 through TLS. */
async function tunnelTo(port: number): Promise<Serving> {
  return await serveTcp((plain) => {
    const secured = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] });
    plain.pipe(secured).pipe(plain);
    plain.on('error', () => secured.destroy());
    secured.on('error', () => plain.destroy());
  });
}
