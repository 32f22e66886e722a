import { EventEmitter, once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Page } from 'playwright-core';
import { createFrontEnd } from '../../../src/demo/front-end.ts';
import { demoPages } from '../../../src/demo/pages.ts';
import { type OpenPort, openPort } from '../../../src/demo/ports.ts';
import { createDemoProvider } from '../../../src/demo/provider.ts';
import { createSteps } from '../../../src/demo/steps.ts';
import { serveTls } from '../provider/serve.ts';
import { selfSignedCertificate } from '../system/certificate.ts';
import { startedOnce } from '../system/started-once.ts';
import { createRelayHere } from './relay-in-process.ts';

const clientId = 'login-site';
const clientSecret = 'a-client-secret-of-40-characters-0123456';
const callbackPath = '/auth/provider/callback';

export interface LoginSiteOptions {
  /** Additional flags of the relay by option name. */
  readonly flags?: Readonly<Record<string, string>> | ((site: LoginSite) => Readonly<Record<string, string>>);
  /** The page of the front end. By default, the page of the demo. */
  readonly frontEnd?: (relayUrl: string) => string;
  /** Whether the relay's public address is https. */
  readonly https?: boolean;
}

/** One request to the relay, and its outcome. */
export interface Exchange {
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly status: number;
  /** The lines of the relay's log about the request. */
  readonly outcome: string;
  readonly location: string | undefined;
  readonly setCookies: readonly string[];
}

/**
 * A front end, a relay whose clock can be moved, and the demo's provider, each a site of its own
 * in a browser's eyes, and a fourth site for an attacker. Every request to the relay is kept,
 * and its calls for tokens are counted.
 */
export class LoginSite {
  readonly frontEnd: string;
  readonly relay: string;
  readonly provider: string;
  readonly attacker: string;
  exchanges: Exchange[] = [];
  tokenCalls = 0;

  readonly #options: LoginSiteOptions;
  readonly #ports: Ports;
  readonly #pages = new Map<string, string>();
  readonly #answered = new EventEmitter();
  readonly #pending = new Set<{ request: IncomingMessage; response: ServerResponse }>();
  #clockOffset = 0;
  #intercept: ((url: string) => void) | undefined;
  #closeRelay = () => {};

  static async start(options: LoginSiteOptions = {}): Promise<LoginSite> {
    const site = new LoginSite(options, {
      relay: await (options.https ? openTlsPort() : openPort(0, 'the relay')),
      frontEnd: await openPort(0, 'the front end'),
      provider: await openPort(0, 'the provider'),
      attacker: await openPort(0, 'the attacker'),
    });
    await site.#serve();
    return site;
  }

  private constructor(options: LoginSiteOptions, ports: Ports) {
    this.#options = options;
    this.#ports = ports;
    this.frontEnd = `http://front-end.localhost:${ports.frontEnd.port}`;
    this.relay = `http${options.https ? 's' : ''}://relay.localhost:${ports.relay.port}`;
    this.provider = `http://provider.localhost:${ports.provider.port}`;
    this.attacker = `http://attacker.localhost:${ports.attacker.port}`;
  }

  get startUrl(): string {
    return `${this.relay}/auth/provider`;
  }

  get callbackUrl(): string {
    return this.relay + callbackPath;
  }

  /** The requests to the callback so far. */
  get callbacks(): Exchange[] {
    return this.exchanges.filter(({ url }) => url.pathname === callbackPath);
  }

  /** Moves the relay's clock. */
  advance(minutes: number): void {
    this.#clockOffset += minutes * 60_000;
  }

  /** Puts a page on the sites of the front end, the relay and the attacker. Returns its path. */
  publish(html: string): string {
    const path = `/pages/${this.#pages.size}`;
    this.#pages.set(path, `<!doctype html><title>A page</title>${html}`);
    return path;
  }

  /** The first matching exchange, past or future. */
  async exchange(matches: (exchange: Exchange) => boolean): Promise<Exchange> {
    for (;;) {
      const found = this.exchanges.find(matches);
      if (found !== undefined) return found;
      await once(this.#answered, 'exchange');
    }
  }

  /** The address of the next callback. It does not reach the relay, and the browser stays. */
  async interceptCallback(): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#intercept = resolve;
    return await promise;
  }

  /** Forgets all exchanges, and corrects the relay's clock. */
  forget(): void {
    this.exchanges = [];
    this.tokenCalls = 0;
    this.#clockOffset = 0;
  }

  async close(): Promise<void> {
    this.#closeRelay();
    await Promise.all(Object.values(this.#ports).map((port) => port.close()));
  }

  async #serve(): Promise<void> {
    const now = () => Date.now() + this.#clockOffset;
    const { flags: given } = this.#options;
    const flags = {
      port: `${this.#ports.relay.port}`,
      baseUrl: this.relay,
      origin: this.frontEnd,
      clientId,
      clientSecret,
      authorizeUrl: `${this.provider}/authorize`,
      tokenUrl: `http://127.0.0.1:${this.#ports.provider.port}/token`,
      userUrl: `http://127.0.0.1:${this.#ports.provider.port}/me`,
      scope: 'openid profile',
      tokenRequest: 'body',
      ...(typeof given === 'function' ? given(this) : given),
    };
    const onLine = (line: string) => this.#read(line);
    const { config, listener: relay, close } = await createRelayHere(flags, onLine, now);
    this.#closeRelay = close;
    const [{ callbackUri }] = config.registrations;

    this.#ports.relay.serve(
      this.#orPage((request, response) => {
        if (this.#intercept && request.url?.startsWith(callbackPath)) {
          this.#intercept(this.relay + request.url);
          this.#intercept = undefined;
          response.writeHead(204).end();
          return;
        }
        this.#pending.add({ request, response });
        relay(request, response);
      }),
    );
    this.#ports.frontEnd.serve(this.#orPage(this.#frontEnd()));
    this.#ports.attacker.serve(this.#orPage((_request, response) => response.writeHead(404).end()));
    const client = { clientId, clientSecret, callbackUri, name: clientId };
    const provider = createDemoProvider(this.provider, client, () => {});
    this.#ports.provider.serve((request, response) => {
      if (request.url === '/token') this.tokenCalls += 1;
      provider(request, response);
    });
  }

  #frontEnd(): RequestListener {
    const { frontEnd } = this.#options;
    if (frontEnd === undefined) {
      const page = { ...demoPages.contract, name: 'app', path: '/' };
      return createFrontEnd({ relayUrl: this.relay, dashboardUrl: '/dashboard' }, [page], createSteps());
    }
    return (_request, response) => sendPage(response, frontEnd(this.relay));
  }

  #orPage(listener: RequestListener): RequestListener {
    return (request, response) => {
      const page = this.#pages.get(request.url ?? '');
      if (page === undefined) listener(request, response);
      else sendPage(response, page);
    };
  }

  // The relay logs a request after its response. So everything about it is known now.
  #read(line: string): void {
    const { requestId, outcome } = JSON.parse(line);
    for (const exchange of this.#pending) {
      const { request, response } = exchange;
      if (response.getHeader('X-Request-Id') !== requestId) continue;
      this.#pending.delete(exchange);
      this.exchanges.push({
        url: new URL(request.url ?? '', this.relay),
        headers: request.headers,
        status: response.statusCode,
        outcome: String(outcome),
        location: response.getHeader('Location')?.toString(),
        setCookies: [response.getHeader('Set-Cookie') ?? []].flat().map(String),
      });
      this.#answered.emit('exchange');
    }
  }
}

type Ports = Readonly<
  Record<'relay' | 'frontEnd' | 'provider' | 'attacker', Pick<OpenPort, 'port' | 'serve' | 'close'>>
>;

/** A port with TLS, and a certificate that no client trusts. */
async function openTlsPort(): Promise<Ports['relay']> {
  const { promise: listener, resolve } = Promise.withResolvers<RequestListener>();
  const pem = await selfSignedCertificate('relay.localhost');
  const server = await serveTls(pem, async (request, response) => {
    (await listener)(request, response);
  });
  return { port: server.port, serve: resolve, close: server.close };
}

/** One site for the enclosing `describe`. It is reset before each test. */
export function useLoginSite(options: LoginSiteOptions = {}): () => LoginSite {
  const site = startedOnce(
    'the login site',
    () => LoginSite.start(options),
    (one) => one.close(),
  );
  afterEach('forget what the test did', () => site().forget());
  return site;
}

/** Goes from the front end to the provider's login page with the front end's button or link. */
export async function startLogin(page: Page): Promise<void> {
  await page.getByText('Log in', { exact: true }).click();
  await page.getByLabel('Your name').waitFor();
}

/** Logs in on the provider's login page, which the browser shows. */
export async function authorize(page: Page, name: string): Promise<void> {
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('button', { name: 'Log in' }).click();
}

function sendPage(response: ServerResponse, html: string): void {
  response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(html);
}
