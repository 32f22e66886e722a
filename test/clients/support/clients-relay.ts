import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { readConfig } from '../../../src/config/config.ts';
import { createMemory } from '../../../src/relay/memory.ts';
import { createRelay, type RelaySurroundings } from '../../../src/relay/relay.ts';
import { openSharedMemory } from '../../../src/relay/shared-memory.ts';
import { FakeBrowser, navigationWith } from '../../harness/browser/fake-browser.ts';
import { type Answer, request, type Sending } from '../../harness/client/request.ts';
import {
  encoded,
  type OAuthStart,
  oauthStart,
  type Parameters,
} from '../../harness/login/oauth-front-end.ts';
import { RefreshingProvider } from '../../harness/provider/refreshing-provider.ts';
import { baseUrl, callbackPath, loginPath } from '../../harness/relay/relay-under-test.ts';
import { freePort } from '../../harness/system/free-port.ts';

const keyLine = 'the line of a key file with 32 characters or more';

/** What the relay of a test is made of. */
interface Settings {
  /** The lines of `front-ends` in the configuration file. */
  readonly frontEnds: string;
  readonly relay?: string;
  /** Settings of the provider. */
  readonly provider?: string;
  /** The texts of further files, by their paths. */
  readonly files?: Readonly<Record<string, string>>;
  readonly surroundings?: RelaySurroundings;
  /** Whether its public address is that of this machine, for clients that are programs. */
  readonly here?: boolean;
  /** How many relays are behind the address: each request goes to the next one. */
  readonly replicas?: number;
}

/** A relay in the process of the test, at a provider with refresh tokens. */
export class ClientsRelay {
  readonly provider: RefreshingProvider;
  /** Milliseconds by which the relay's clock is ahead. */
  ahead = 0;
  readonly log: string[] = [];
  /** The index of the relay that gets all requests; undefined: each goes to the next one. */
  at: number | undefined;
  port = 0;
  /** Its public address. */
  address = '';
  #close: () => Promise<void> = async () => {};

  private constructor(provider: RefreshingProvider) {
    this.provider = provider;
  }

  static async start(settings: Settings): Promise<ClientsRelay> {
    const started = new ClientsRelay(await RefreshingProvider.start());
    await started.restart(settings);
    return started;
  }

  /** Starts again, with nothing remembered. */
  async restart(settings: Settings): Promise<void> {
    await this.#close();
    if (settings.here && this.port === 0) this.port = await freePort();
    this.address = settings.here ? `http://127.0.0.1:${this.port}` : baseUrl;
    this.provider.registration.redirectUri = `${this.address}${callbackPath}`;
    const { clientId, clientSecret } = this.provider.registration;
    const endpoints = Object.entries(this.provider.flags).map((pair) => pair.join(': '));
    const texts: Record<string, string> = {
      'config.yaml': `
base-url: ${this.address}
key-file: ./key
${settings.relay ?? ''}
providers:
  provider:
    client-id: ${clientId}
    client-secret: ${clientSecret}
    ${endpoints.join('\n    ')}
    ${settings.provider ?? ''}
front-ends:
${settings.frontEnds}`,
      './key': keyLine,
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
    const log = pino({}, { write: (line: string) => this.log.push(line) });
    const now = () => Date.now() + this.ahead;
    const start = async () => {
      const shared = await openSharedMemory(config, log, undefined);
      const memory = createMemory(now, shared);
      return {
        shared,
        ...(await createRelay(config, log, { now, memory, ...settings.surroundings })),
      };
    };
    const relays = await Promise.all(Array.from({ length: settings.replicas ?? 1 }, start));
    let turn = 0;
    const server = createServer((request, response) => {
      turn += 1;
      void relays[(this.at ?? turn) % relays.length]?.listener(request, response);
    });
    await new Promise<void>((resolve) =>
      server.listen(settings.here ? this.port : 0, '127.0.0.1', resolve),
    );
    this.port = (server.address() as AddressInfo).port;
    this.#close = async () => {
      for (const { close } of relays) close();
      for (const { shared } of relays) await shared?.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
  }

  async stop(): Promise<void> {
    await this.#close();
    await this.provider.stop();
  }

  browser(): FakeBrowser {
    return new FakeBrowser(() => this);
  }

  async send(sending: Sending): Promise<Answer> {
    return await request(this.port, sending);
  }

  /** Sends a form or JSON to an endpoint of the registration. */
  async post(
    endpoint: string,
    body: Parameters | string,
    headers: readonly (readonly [string, string])[] = [],
  ): Promise<Answer> {
    const isJson = typeof body === 'string';
    const type = isJson ? 'application/json' : 'application/x-www-form-urlencoded';
    const text = isJson ? body : encoded(body);
    return await this.send({
      method: 'POST',
      path: `${loginPath}/${endpoint}`,
      headers: [
        ['Content-Type', type],
        ['Content-Length', `${Buffer.byteLength(text)}`],
        ...headers.map(([name, value]): [string, string] => [name, value]),
      ],
      body: text,
    });
  }

  /** The provider's part of a login, from its authorization request to the answer of the callback. */
  async grant(browser: FakeBrowser, authorizationRequest: URL): Promise<Answer> {
    const code = this.provider.authorize(authorizationRequest);
    const state = authorizationRequest.searchParams.get('state') ?? '';
    return await browser.open(`${this.address}${callbackPath}?${encoded({ code, state })}`);
  }

  /** Answers the question of the relay, in the browser that shows it. */
  async decide(
    browser: FakeBrowser,
    token: string,
    decision = 'continue',
    headers: [string, string][] = navigationWith('Sec-Fetch-Site', 'same-origin'),
  ): Promise<Answer> {
    return await browser.open(`${this.address}${loginPath}/consent`, {
      method: 'POST',
      headers: [...headers, ['Content-Type', 'application/x-www-form-urlencoded']],
      body: encoded({ consent: token, decision }),
    });
  }

  /** What a person does from the start of a login to its end: consents at the relay, if it asks, and at the provider. */
  async visit(start: string): Promise<URL> {
    const browser = this.browser();
    const answer = await browser.open(start);
    const isAsked = answer.status === 200;
    const request = isAsked ? await this.decide(browser, questionOf(answer)) : answer;
    return locationOf(await this.grant(browser, locationOf(request)));
  }

  /** Opens the start of a login. */
  async open(browser: FakeBrowser, parameters: Parameters): Promise<Answer> {
    return await browser.open(`${loginPath}?${encoded(parameters)}`);
  }

  /** Redeems a code. */
  async redeem(
    { parameters, codeVerifier }: OAuthStart,
    code: string,
    changes: Parameters = {},
    headers: readonly (readonly [string, string])[] = [],
  ): Promise<Answer> {
    const { client_id, redirect_uri } = parameters;
    const form = { grant_type: 'authorization_code', client_id, redirect_uri, code };
    return await this.post('token', { ...form, code_verifier: codeVerifier, ...changes }, headers);
  }

  async refresh(
    client_id: string,
    refresh_token: string,
    headers: readonly (readonly [string, string])[] = [],
  ): Promise<Answer> {
    return await this.post(
      'token',
      { grant_type: 'refresh_token', client_id, refresh_token },
      headers,
    );
  }

  /** A whole login of a client that needs no consent: its start, and the code that it gets. */
  async logIn(changes: Parameters): Promise<{ start: OAuthStart; code: string; location: URL }> {
    const start = oauthStart(changes);
    const browser = this.browser();
    const request = locationOf(await this.open(browser, start.parameters));
    const location = locationOf(await this.grant(browser, request));
    return { start, code: location.searchParams.get('code') ?? '', location };
  }
}

/** The target of a redirect. */
export function locationOf({ status, headers, body }: Answer): URL {
  const { location } = headers;
  if (status < 300 || status > 399 || location === undefined) {
    throw new Error(`no redirect, but ${status}: ${body}`);
  }
  return new URL(location);
}

/** The token of the question in a page; empty: it asks nothing. */
export function questionOf({ body }: Answer): string {
  return /name="consent" value="([^"]*)"/.exec(`${body}`)?.[1] ?? '';
}

/** The JSON of an answer. */
export function jsonOf({ body }: Answer): Readonly<Record<string, unknown>> {
  return JSON.parse(`${body}`);
}

/** One relay for the enclosing `describe`. Its provider behaves well before each test. */
export function clientsRelay(settings: () => Settings | Promise<Settings>): () => ClientsRelay {
  let started: ClientsRelay | undefined;
  before('start the relay', async () => {
    started = await ClientsRelay.start(await settings());
  });
  beforeEach(() => {
    started?.provider.forget();
    if (started) started.ahead = 0;
  });
  after('stop the relay', async () => await started?.stop());
  return () => {
    if (started === undefined) throw new Error('the relay has not started');
    return started;
  };
}
