import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { ada, DoorRelay, settings, wiki } from '../../browsers/support/door-relay.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { type Serving, serveTcp } from '../../harness/provider/serve.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Balancer } from '../deploy/support/balancer.ts';
import { identity, startRelay } from '../deploy/support/guarded-application.ts';
import { browserGuards, guards } from '../deploy/support/kinds.ts';
import { type Door, Exchanges } from './support/exchanges.ts';
import { bytesOf, rawFrames } from './support/frames.ts';
import { rawRequests } from './support/requests.ts';

/** Milliseconds that a proxy may wait for the rest of what it takes for a request, until its client leaves. */
const patience = 500;

/** A proxy that asks the relay, in front of an application that reads strictly. */
class Guard extends Exchanges {
  /** The only person, who is both honest and not. */
  admit(door: Door): Door {
    this.honest = door;
    return door;
  }
}

/** A relay that a proxy asks. */
interface AskedRelay {
  readonly port: number;
  /** What opens the door. @param proxyPort of the proxy */
  enter(proxyPort: number): Promise<Door>;
  /** The requests that the proxy should not have made so. */
  readonly violations: string[];
  close(): Promise<void>;
}

async function startForPrograms(): Promise<AskedRelay> {
  const { port, token, violations, close } = await startRelay();
  const [, user = ''] = identity.find(([name]) => name === 'X-Forwarded-User') ?? [];
  const credentials = [`Authorization: Bearer ${token}`];
  return {
    port,
    violations,
    close,
    enter: async () => ({ host: 'notes.example.com', path: '/mcp', credentials, user }),
  };
}

async function startForBrowsers(): Promise<AskedRelay> {
  const relay = await DoorRelay.start(settings);
  relay.provider.knows(json(ada));
  async function enter(proxyPort: number): Promise<Door> {
    const person = relay.person(proxyPort);
    await person.visit(`${wiki}/`);
    const cookie = `Cookie: ${person.jar.headerFor(new URL(wiki))}`;
    const credentials = [cookie, `Origin: ${wiki}`, 'Sec-Fetch-Site: same-origin'];
    return { host: new URL(wiki).host, path: '', credentials, user: ada.sub };
  }
  return { port: relay.port, violations: [], close: () => relay.stop(), enter };
}

let guard: Guard;
const port = () => guard.upstream.port;
for (const [whose, kinds, start] of [
  ['programs', guards(port), startForPrograms],
  ['browsers', browserGuards(port), startForBrowsers],
] as const) {
  for (const [name, kind] of Object.entries(kinds)) {
    const { describe } = needsPrograms(kind.program);

    describe(`raw bytes, through ${name}, which asks the relay about ${whose} as in deploy`, function () {
      this.timeout(300_000);
      let relay: AskedRelay;
      let proxy: Balancer;
      let door: Door;

      before('start them', async () => {
        guard = new Guard();
        relay = await start();
        await guard.upstream.start();
        proxy = await Balancer.start(kind, [relay.port]);
        door = guard.admit(await relay.enter(proxy.port));
      });
      after('stop them', async () => {
        await proxy.stop();
        await Promise.all([relay.close(), guard.upstream.stop()]);
      });

      /** Runs each case, and names those that fail. */
      async function each<Case extends { readonly name: string }>(
        cases: readonly Case[],
        send: (one: Case) => Promise<unknown>,
      ): Promise<void> {
        const failed: string[] = [];
        for (const one of cases) {
          guard.upstream.forget();
          try {
            await send(one);
            guard.expectOneAtMost(door);
            if (one.name === 'an ordinary request') expect(guard.got).to.have.length(1);
            // The relay is asked about what was sent, and by nobody but the proxy.
            expect(relay.violations.splice(0)).to.deep.equal([]);
          } catch (error) {
            failed.push(`${one.name}: ${error}`);
          }
        }
        expect(failed).to.deep.equal([]);
      }

      it('are one request or none', async () => {
        await each(rawRequests, (one) => guard.exchange(proxy.port, one.bytes(door), one.method, patience));
      });

      // The other templates turn HTTP/2 off. They say why.
      if (name !== 'nginx') return;
      it('are one request or none, by HTTP/2', async () => {
        const tunnel = await tunnelTo(proxy.tlsPort);
        await each(rawFrames, (one) => guard.exchangeFrames(tunnel.port, bytesOf(one, door), patience));
        await tunnel.close();
      });
    });
  }
}

/** Carries HTTP/2 through TLS. */
async function tunnelTo(tlsPort: number): Promise<Serving> {
  return await serveTcp((plain) => {
    const to = { port: tlsPort, host: '127.0.0.1', rejectUnauthorized: false };
    const secured = connectTls({ ...to, ALPNProtocols: ['h2'] });
    plain.pipe(secured).pipe(plain);
    plain.on('error', () => secured.destroy());
    secured.on('error', () => plain.destroy());
  });
}
