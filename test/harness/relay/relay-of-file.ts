import type { IncomingMessage, ServerResponse } from 'node:http';
import { pino } from 'pino';
import { readConfig } from '../../../src/config/config.ts';
import { createMetrics } from '../../../src/observability/request-metrics.ts';
import { createMemory, openSharedMemory } from '../../../src/relay/memory.ts';
import { createRelay, type RelaySurroundings } from '../../../src/relay/relay.ts';
import { FakeBrowser } from '../browser/fake-browser.ts';
import { RefreshingProvider } from '../provider/refreshing-provider.ts';
import { serve } from '../provider/serve.ts';
import { MemoryServerHere } from '../system/memory-server-here.ts';
import { keyLines } from '../system/secret-file.ts';
import { startedOnce } from '../system/started-once.ts';
import { basePath, everyOption, withoutBase } from '../system/variant.ts';
import { baseUrl, callbackPath } from './relay.ts';

const idle = { callsInFlight: 0, ready: true, providers: [] };

/** The parts of the configuration of a test's relay. */
export interface Settings {
  /** The lines of `front-ends` in the configuration file. */
  readonly frontEnds: string;
  /** Further lines of the file. */
  readonly relay?: string;
  /** Settings of the provider, as lines of its entry. */
  readonly provider?: string;
  /** Further entries of `providers`, as lines. */
  readonly otherProviders?: string;
  /** The texts of further files, by their paths. */
  readonly files?: Readonly<Record<string, string>>;
  readonly surroundings?: RelaySurroundings;
  /** Whether its public address is on this machine, for clients that are programs. */
  readonly here?: boolean;
  /** The path of its public address, which is passed on, or cut off by `intercept`. */
  readonly path?: string;
  /** The number of relays behind the address. Each request goes to the next relay. */
  readonly replicas?: number;
}

/** A relay in the process of the test, whose configuration is a file, at a provider with refresh tokens. */
export class RelayOfFile {
  readonly provider: RefreshingProvider;
  /** The lines of its log. */
  readonly lines: Record<string, unknown>[] = [];
  /** Milliseconds by which its clock is ahead. */
  ahead = 0;
  /** Its public address. */
  address = '';
  /** The index of the relay that gets all requests, or undefined if each request goes to the next relay. */
  at: number | undefined;
  /** Sees each request before a relay does. Answers it instead if it returns true. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  /** Closes what was started. Requests in flight end with the relay that has taken them. */
  readonly #cleanUp: (() => unknown)[] = [];
  port = 0;
  #stillSince: number | undefined;
  #relays: Awaited<ReturnType<typeof createRelay>>[] = [];
  #memories: ReturnType<typeof createMemory>[] = [];
  #turn = 0;
  #server: MemoryServerHere | undefined;
  #closeServer = async () => {};

  constructor(provider: RefreshingProvider) {
    this.provider = provider;
  }

  /** Starts the provider. Configure the relay before the first request. */
  static async listen<Started extends RelayOfFile>(
    this: new (
      provider: RefreshingProvider,
    ) => Started,
  ): Promise<Started> {
    const started = new this(await RefreshingProvider.start());
    if (everyOption) started.#server = await MemoryServerHere.start();
    const { port, close } = await serve((request, response) => started.handle(request, response));
    started.port = port;
    started.#closeServer = close;
    return started;
  }

  /** Answers a request that came here, or at a server of the test. */
  handle(request: IncomingMessage, response: ServerResponse): void {
    if (this.intercept(request, response)) return;
    request.url = withoutBase(request.url ?? '');
    this.#turn += 1;
    const relay = this.#relays[(this.at ?? this.#turn) % this.#relays.length];
    relay?.listener(request, response);
  }

  /** Uses these settings, with nothing remembered. */
  async restart(settings: Settings): Promise<void> {
    this.#memories = [];
    this.#server?.values.clear();
    await this.reload(settings);
  }

  /** Uses other settings, as after SIGHUP. */
  async reload(settings: Settings): Promise<void> {
    const { here, path, relay = '', provider = '', otherProviders = '', replicas = 1 } = settings;
    const origin = here ? `http://127.0.0.1:${this.port}` : new URL(baseUrl).origin;
    this.address = origin + (path ?? basePath);
    this.provider.registration.redirectUri = `${this.address}${callbackPath}`;
    const { clientId, clientSecret } = this.provider.registration;
    const now = () => (this.#stillSince ?? Date.now()) + this.ahead;
    const server = relay.includes('shared-memory:') ? undefined : this.#server;
    if (server !== undefined) server.now = now;
    const texts: Record<string, string> = {
      'config.yaml': `
base-url: ${this.address}
key-file: ./key
${server === undefined ? '' : `shared-memory: ${server.address}`}
${relay}
providers:
  provider:
    client-id: ${clientId}
    client-secret: ${clientSecret}
    ${[...this.provider.settings, provider].join('\n    ')}
${otherProviders}
front-ends:
${settings.frontEnds}
`,
      './key': keyLines,
      ...settings.files,
    };
    const { config } = readConfig({
      flags: {},
      environment: { LOGIN_RELAY_CONFIG: 'config.yaml' },
      readFile(path) {
        const text = texts[path];
        if (text === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' });
        return { text, readableByOthers: false };
      },
    });
    const write = (line: string) => void this.lines.push(JSON.parse(line));
    const log = pino({ base: null, level: 'debug' }, { write });
    const start = async (_: unknown, index: number) => {
      const metrics = everyOption ? createMetrics(() => idle) : undefined;
      const observers = metrics === undefined ? [] : [metrics.observe];
      this.#memories[index] ??= createMemory(now, await openSharedMemory(config, log, metrics, now));
      const memory = this.#memories[index];
      const started = await createRelay(config, log, {
        now,
        memory,
        observers,
        ...settings.surroundings,
      });
      this.#cleanUp.push(started.close, () => memory.home.shared?.close());
      return started;
    };
    this.#relays = await Promise.all(Array.from({ length: replicas }, start));
    for (const { takeOverStreams } of this.#relays) takeOverStreams();
  }

  /** From now on, its clock moves by `ahead` alone, so that nothing ends earlier on a slow machine. */
  stopClock(): void {
    this.#stillSince = Date.now();
    this.ahead = 0;
  }

  browser(): FakeBrowser {
    return new FakeBrowser(() => this);
  }

  async stop(): Promise<void> {
    for (const close of this.#cleanUp) await close();
    await this.#closeServer();
    await this.#server?.stop();
    await this.provider.stop();
  }
}

/** One relay for the enclosing `describe`. */
export function relayOfFile<Started extends RelayOfFile>(start: () => Promise<Started>): () => Started {
  const relay = startedOnce('the provider and the relay', start, (one) => one.stop());
  beforeEach(() => {
    relay().provider.forget();
    relay().stopClock();
  });
  return relay;
}
