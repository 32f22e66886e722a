import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ClientsRelay } from '../../../clients/support/clients-relay.ts';
import { json } from '../../../harness/provider/provider-behaviours.ts';
import { freePort } from '../../../harness/system/free-port.ts';
import { MemoryServer } from '../../../harness/system/memory-server.ts';
import { ada, secret } from '../../../resources/support/resources-relay.ts';
import { Balancer } from '../../deploy/support/balancer.ts';
import { guards } from '../../deploy/support/kinds.ts';
import { trust } from './document-host.ts';

/**
 * Two MCP servers that are resources of two relays with one memory. "notes" is behind Caddy, as in `deploy`, which asks a
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
  readonly #memory: MemoryServer;
  readonly #caddy: Balancer;
  readonly #servers: ChildProcess[] = [];
  #distrust = () => {};

  static async start(): Promise<ResourcesRig> {
    const relay = await ClientsRelay.listen();
    const [guarded, introspecting] = [await freePort(), await freePort()];
    const { caddy } = guards(() => guarded);
    if (caddy === undefined) throw new Error('deploy has nothing for Caddy');
    const started = {
      relay,
      memory: await MemoryServer.start(),
      caddy: await Balancer.start(caddy, [relay.port]),
    };
    const rig = new ResourcesRig(started, introspecting);
    rig.#distrust = trust(await readFile(rig.certificateFile, 'utf8'));
    await rig.restart();
    const { introspected } = rig.urls;
    await rig.#serve(`${guarded}`);
    await rig.#serve(`${introspecting}`, introspected, `${relay.address}/auth/provider`, secret);
    return rig;
  }

  private constructor(
    { relay, memory, caddy }: { relay: ClientsRelay; memory: MemoryServer; caddy: Balancer },
    introspecting: number,
  ) {
    this.relay = relay;
    this.#memory = memory;
    this.#caddy = caddy;
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
    clients: { documents: any, registration: true }
    resources: [notes, introspected]
`,
      files: { './secret': secret },
    });
  }

  /** The person is ada, nobody has logged in, and the clock is right. */
  forget(): void {
    const { provider } = this.relay;
    provider.forget();
    provider.calls.length = 0;
    provider.onUser = (response, { credential }) =>
      (provider.accepts(credential) ? json(ada) : json({}, 401))(response);
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
    for (const server of this.#servers) server.kill();
    await this.#caddy.stop();
    await this.relay.stop();
    await this.#memory.stop();
  }

  async #serve(...words: readonly string[]): Promise<void> {
    const program = join(import.meta.dirname, '..', 'mcp-server.js');
    const server = spawn(process.execPath, [program, ...words], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#servers.push(server);
    await once(server.stdout, 'data');
  }
}
