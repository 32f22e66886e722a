import { readFile } from 'node:fs/promises';
import { ClientsRelay } from '../../../clients/support/clients-relay.ts';
import { json } from '../../../harness/provider/provider-behaviours.ts';
import { freePort } from '../../../harness/system/free-port.ts';
import { MemoryServer } from '../../../harness/system/memory-server.ts';
import { trust } from '../../../harness/system/trust.ts';
import { ada, secret } from '../../../resources/support/resources-relay.ts';
import { Balancer } from '../../deploy/support/balancer.ts';
import { guards } from '../../deploy/support/kinds.ts';
import { DocumentedPrograms, withoutIntrospection } from './documented-programs.ts';

interface Started {
  readonly relay: ClientsRelay;
  readonly memory: MemoryServer;
  readonly caddy: Balancer;
  readonly servers: DocumentedPrograms;
}

/**
 * Two MCP servers of docs/resources.md, which are resources of two relays with one memory. "notes" is behind Caddy, as in `deploy`, which asks a
 * relay about each request. "introspected" asks a relay itself.
 */
export class ResourcesRig {
  readonly relay: ClientsRelay;
  /** A PEM file with the certificate that clients have to trust. */
  readonly certificateFile: string;
  /** The resources, by their names. All that clients are told. */
  readonly urls: Readonly<Record<'notes' | 'introspected', string>>;
  /** The addresses at which programs have asked the person to log in. */
  readonly logins: URL[] = [];
  readonly #clients: string;
  readonly #memory: MemoryServer;
  readonly #caddy: Balancer;
  readonly #servers: DocumentedPrograms;
  #distrust = () => {};

  /** @param clients the setting that lets unregistered clients in */
  static async start(clients = 'documents: any, registration: true'): Promise<ResourcesRig> {
    const relay = await ClientsRelay.listen();
    const guarded = await freePort();
    const introspecting = await freePort();
    const { caddy } = guards(() => guarded);
    if (caddy === undefined) throw new Error('deploy has nothing for Caddy');
    const started = {
      relay,
      memory: await MemoryServer.start(),
      caddy: await Balancer.start(caddy, [relay.port]),
      servers: await DocumentedPrograms.create(),
    };
    const rig = new ResourcesRig(started, introspecting, clients);
    rig.#distrust = trust(await readFile(rig.certificateFile, 'utf8'));
    await rig.restart();
    await rig.#servers.serve('mcp.js', {
      relay: relay.address,
      port: guarded,
      change: withoutIntrospection,
    });
    await rig.#servers.serve('mcp.js', {
      relay: relay.address,
      port: introspecting,
      change: (code) =>
        code
          .replaceAll('https://notes.example.com/mcp', rig.urls.introspected)
          .replaceAll('https://notes.example.com', new URL(rig.urls.introspected).origin)
          .replaceAll("client_id: 'notes'", "client_id: 'introspected'"),
    });
    return rig;
  }

  private constructor({ relay, memory, caddy, servers }: Started, introspecting: number, clients: string) {
    this.#clients = clients;
    this.relay = relay;
    this.#memory = memory;
    this.#caddy = caddy;
    this.#servers = servers;
    this.certificateFile = caddy.certificateFile;
    this.urls = {
      notes: `https://localhost:${caddy.tlsPort}/mcp`,
      introspected: `http://127.0.0.1:${introspecting}/mcp`,
    };
  }

  /** Starts both relays again. What each remembered alone is lost. */
  async restart(): Promise<void> {
    const { notes, introspected } = this.urls;
    await this.relay.restart({
      here: true,
      replicas: 2,
      relay: `shared-memory: ${this.#memory.address}
trusted-proxies: 127.0.0.1
resources:
  notes: { url: '${notes}', scope: 'notes:read' }
  introspected: { url: '${introspected}', secret-file: ./secret }
`,
      frontEnds: `  tools:
    kind: native
    refresh-tokens: bearer
    clients: { ${this.#clients} }
    resources: [notes, introspected]
`,
      files: { './secret': secret },
    });
  }

  /** The person is ada, nobody has logged in, and the clock is right. */
  forget(): void {
    const { provider } = this.relay;
    provider.forget();
    provider.knows(json(ada));
    this.relay.ahead = 0;
    this.relay.intercept = () => false;
    this.logins.length = 0;
  }

  /** How often the provider was asked for a refresh. */
  get refreshes(): number {
    return this.relay.provider.credentials('refresh').length;
  }

  /** Lets the provider wait with the next refresh until the relays are asked for so many: all at once, at any speed. */
  holdRefresh(asked: number): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    let left = asked;
    this.relay.intercept = ({ url }) => {
      if (url === '/auth/provider/token') left -= 1;
      if (left === 0) resolve();
      return false;
    };
    this.relay.provider.mood.patience = promise;
  }

  /** Does what a person does whom a client asks to log in. */
  async visit(start: URL): Promise<URL> {
    this.logins.push(start);
    return await this.relay.visit(start.href);
  }

  async stop(): Promise<void> {
    this.#distrust();
    await this.#servers.stop();
    await this.#caddy.stop();
    await this.relay.stop();
    await this.#memory.stop();
  }
}
