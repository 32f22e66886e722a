import { granted } from '../../harness/browser/fake-browser.ts';
import { json, redirect } from '../../harness/provider/provider-behaviours.ts';
import { RefreshingProvider } from '../../harness/provider/refreshing-provider.ts';
import { callbackPath, keyFile, type Relay, startRelayWith } from '../../harness/relay/relay-under-test.ts';
import { ada } from './door-relay.ts';

/** The public addresses of relays, and lines of their configuration. */
interface Site {
  /** Where they log people in. */
  readonly address: string;
  /** The origin of the resource "wiki", which opens to browsers. */
  readonly wiki: string;
  /** The ports of the relays. */
  readonly ports: readonly number[];
  /** Further settings of the resource, such as `, upstream: …`. */
  readonly resource?: string;
  /** Further lines. */
  readonly lines?: string;
}

/** Relays as processes, which have a key in common, and a provider that logs ada in without a question. */
export class DoorProcesses {
  readonly provider: RefreshingProvider;
  readonly address: string;
  readonly wiki: string;
  readonly #config: string;
  readonly #relays = new Map<number, Relay>();

  static async start(site: Site): Promise<DoorProcesses> {
    const provider = await RefreshingProvider.start();
    provider.knows(json(ada));
    provider.registration.redirectUri = site.address + callbackPath;
    provider.pages = {
      [new URL(provider.authorizeUrl).pathname]: (response, { url }) => redirect(granted(provider, url))(response),
    };
    const processes = new DoorProcesses(provider, site, await keyFile());
    await processes.revive(site.ports);
    return processes;
  }

  private constructor(provider: RefreshingProvider, { address, wiki, resource = '', lines = '' }: Site, key: string) {
    this.provider = provider;
    this.address = address;
    this.wiki = wiki;
    const { clientId, clientSecret } = provider.registration;
    this.#config = `base-url: ${address}
key-file: ${key}
trusted-proxies: [127.0.0.1]
metrics-port: 0
${lines}
providers:
  provider:
    client-id: ${clientId}
    client-secret: ${clientSecret}
    ${provider.settings.join('\n    ')}
resources:
  wiki: { url: '${wiki}/', browser: true${resource} }
`;
  }

  /** The port of a relay that lives. */
  get port(): number {
    const [port] = this.#relays.keys();
    if (port === undefined) throw new Error('no relay lives');
    return port;
  }

  get each(): readonly Relay[] {
    return [...this.#relays.values()].sort((one, other) => one.port - other.port);
  }

  /** Starts the relays that do not run. */
  async revive(ports: readonly number[]): Promise<void> {
    const dead = ports.filter((port) => !this.#relays.has(port));
    const started = dead.map(async (port) => [port, await startRelayWith(this.#config, { port: `${port}` })] as const);
    for (const [port, relay] of await Promise.all(started)) this.#relays.set(port, relay);
  }

  /** Ends a relay at once. */
  async kill(relay: Relay): Promise<void> {
    this.#relays.delete(relay.port);
    await relay.process.stop('SIGKILL');
  }

  async stop(): Promise<void> {
    await Promise.all(this.each.map((relay) => relay.stop()));
    await this.provider.stop();
  }
}
