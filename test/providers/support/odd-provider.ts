import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { type Config, readConfig } from '../../../src/config/config.ts';
import { createMetrics } from '../../../src/observability/request-metrics.ts';
import { createMemory, openSharedMemory } from '../../../src/relay/memory.ts';
import { createRelay } from '../../../src/relay/relay.ts';
import { FakeBrowser } from '../../harness/browser/fake-browser.ts';
import type { Answer } from '../../harness/client/http-client.ts';
import { expectRedirect } from '../../harness/expect/expectations.ts';
import { logInTo, redemption, requestToken } from '../../harness/login/oauth-front-end.ts';
import { SessionPage, sessionOrigin } from '../../harness/login/session-page.ts';
import { type Page, type PageRequest, pageFor, pageRequest } from '../../harness/provider/pages.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';
import { baseUrl, frontendOrigin, loginPath } from '../../harness/relay/relay-under-test.ts';
import { MemoryServerHere } from '../../harness/system/memory-server-here.ts';
import { keyLines } from '../../harness/system/secret-file.ts';
import { everyOption, withoutBase } from '../../harness/system/variant.ts';

export type Pages = Readonly<Record<string, Page>>;

const usual: Pages = {
  '/token': json({ access_token: 'AT1', token_type: 'bearer', expires_in: 3600, refresh_token: 'RT1' }),
  '/user': json({ id: 7, login: 'ada' }),
};

const idle = { callsInFlight: 0, ready: true, providers: [] };

/** The front ends that a test can use, as lines of the file. */
const frontEnds = {
  code: `  app: { origin: '${frontendOrigin}', token-delivery: code, refresh-tokens: bearer }`,
  session: `  app: { origin: '${sessionOrigin}', token-delivery: session }`,
  query: `  app: { origin: '${frontendOrigin}' }`,
  bound: `  app: { origin: '${frontendOrigin}', token-delivery: code, refresh-tokens: bound }`,
  cms: `  app: { origin: '${frontendOrigin}', token-delivery: cms, refresh-tokens: bearer }`,
};

/** The changes of a test to the provider and the relay. */
export interface Setting {
  /** Lines of the entry of `providers`, in addition to client and endpoints. `P` is the address of the provider. */
  readonly lines?: readonly string[];
  /** Without the three URLs. */
  readonly isDiscovered?: boolean;
  readonly pages?: Pages;
  readonly delivery?: keyof typeof frontEnds;
  /** Lines of the front end's scope, or others of its entry. */
  readonly frontEnd?: string;
  /** Further lines of the file. */
  readonly relay?: string;
}

/** A provider that differs from all others, and a relay that logs in there, configured by a file. */
export class OddProvider {
  /** The requests that it got, without requests for metadata. */
  readonly requests: PageRequest[] = [];
  pages: Pages = usual;
  /** Milliseconds by which the clock of the relay is ahead. */
  ahead = 0;
  /** The lines of the relay's log. */
  readonly lines: string[] = [];
  readonly #provider: Serving;
  #relay: Serving | undefined;
  #created: Awaited<ReturnType<typeof createRelay>> | undefined;
  /** With every option, the memory that relays share. */
  #memoryServer: MemoryServerHere | undefined;
  #closeMemory = (): unknown => undefined;

  static async start(): Promise<OddProvider> {
    const serving = await serve(async (message, response) => {
      const request = pageRequest(message, await text(message));
      odd.requests.push(request);
      const page = pageFor(request, { ...usual, ...odd.pages }) ?? json({ error: 'not_found' }, 404);
      page(response, request);
    });
    const odd = new OddProvider(serving);
    if (everyOption) odd.#memoryServer = await MemoryServerHere.start();
    return odd;
  }

  private constructor(provider: Serving) {
    this.#provider = provider;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#provider.port}`;
  }

  /** Those of an endpoint. */
  asked(path: string): PageRequest[] {
    return this.requests.filter(({ url }) => url.pathname === path);
  }

  /** The configuration file of a relay at this provider. */
  file({ lines = [], isDiscovered = false, delivery = 'code', frontEnd = '', relay = '' }: Setting = {}): string {
    const endpoints = ['authorize-url: P/authorize', 'token-url: P/token', 'user-url: P/user'];
    const entry = ['client-id: client-1', 'client-secret: secret-canary', ...(isDiscovered ? [] : endpoints), ...lines];
    return `base-url: ${baseUrl}
key-file: ./key
${this.#memoryServer === undefined ? '' : `shared-memory: ${this.#memoryServer.address}`}
${relay}
providers:
  provider:
    ${entry.join('\n    ').replaceAll(/\bP(?=\/|$)/gm, this.origin)}
front-ends:
${frontEnds[delivery].replace(' }', `${frontEnd && `, ${frontEnd}`} }`)}
`;
  }

  /** Uses other settings, with nothing remembered. */
  async use(setting: Setting = {}): Promise<Config> {
    this.pages = setting.pages ?? {};
    const texts: Readonly<Record<string, string>> = { 'config.yaml': this.file(setting), './key': keyLines };
    const { config } = readConfig({
      flags: {},
      environment: { LOGIN_RELAY_CONFIG: 'config.yaml' },
      readFile: (path) => ({ text: texts[path] ?? '', readableByOthers: false }),
    });
    await this.#serve(config);
    return config;
  }

  /** A login with flags only, as in the contract. */
  async useFlags(flags: Readonly<Record<string, string>>, pages: Pages): Promise<void> {
    this.pages = pages;
    const all = {
      origin: frontendOrigin,
      baseUrl,
      clientId: 'client-1',
      clientSecret: 'secret-canary',
      authorizeUrl: `${this.origin}/authorize`,
      tokenUrl: `${this.origin}/token`,
      userUrl: `${this.origin}/user`,
      ...flags,
    };
    const given = Object.entries(all).map(([name, value]) => [name, [value]]);
    const { config } = readConfig({
      flags: Object.fromEntries(given),
      environment: {},
      readFile: () => ({ text: '', readableByOthers: false }),
    });
    await this.#serve(config);
  }

  async #serve(config: Config): Promise<void> {
    await this.#stopRelay();
    this.requests.length = 0;
    this.lines.length = 0;
    this.ahead = 0;
    this.#memoryServer?.values.clear();
    const now = () => Date.now() + this.ahead;
    const log = pino({ base: null }, { write: (line) => void this.lines.push(line) });
    const metrics = everyOption ? createMetrics(() => idle) : undefined;
    const memory = createMemory(now, await openSharedMemory(config, log, metrics, now));
    const observers = metrics === undefined ? [] : [metrics.observe];
    const created = await createRelay(config, log, { now, memory, observers });
    this.#created = created;
    this.#closeMemory = () => memory.home.shared?.close();
    const here = await serve((request, response) => {
      // As a proxy that keeps the names.
      const isHere = request.headers.host === `127.0.0.1:${here.port}`;
      if (isHere) request.headers.host = new URL(baseUrl).host;
      request.url = withoutBase(request.url ?? '');
      created.listener(request, response);
    });
    this.#relay = here;
    created.takeOverStreams();
    // Discovery is over, and the tests ask about logins.
    this.requests.length = 0;
  }

  /** The port of the relay. */
  get port(): number {
    if (this.#relay === undefined) throw new Error('use() starts the relay');
    return this.#relay.port;
  }

  /** Logs everybody in. */
  authorize(): string {
    return 'the-code';
  }

  /** The authorization request at the start of a login. */
  async startedAt(query = ''): Promise<URL> {
    return expectRedirect(await new FakeBrowser(() => this).open(`${loginPath}${query}`));
  }

  /** A whole login of a page with a code. Returns the answer of the relay's token endpoint. */
  async logIn(): Promise<Answer> {
    const response = await logInTo(new FakeBrowser(() => this), { provider: this });
    return await requestToken(this, redemption(response));
  }

  /** Refreshes as a page does. */
  async refresh(refreshToken: string): Promise<Answer> {
    return await requestToken(this, { grant_type: 'refresh_token', client_id: 'app', refresh_token: refreshToken });
  }

  /** A page with a session that has logged in. */
  async session(): Promise<SessionPage> {
    const page = new SessionPage(() => this, this);
    await page.logIn();
    return page;
  }

  /** The answer to the callback of a login without OAuth. */
  async callback(): Promise<Answer> {
    const browser = new FakeBrowser(() => this);
    return await browser.open(await browser.consent(this));
  }

  async #stopRelay(): Promise<void> {
    this.#created?.close();
    await this.#closeMemory();
    await this.#relay?.close();
  }

  async stop(): Promise<void> {
    await this.#stopRelay();
    await this.#memoryServer?.stop();
    await this.#provider.close();
  }
}

/** The fields of a successful answer. */
export function fieldsOf({ status, body }: Answer): Record<string, unknown> {
  if (status !== 200) throw new Error(`${status} ${body}`);
  return JSON.parse(`${body}`);
}
