import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { readTextFile } from '../../../src/cli/text-files.ts';
import { readConfig } from '../../../src/config/config.ts';
import { createMemory } from '../../../src/relay/memory.ts';
import { createRelay } from '../../../src/relay/relay.ts';
import { FakeBrowser } from '../../harness/browser/fake-browser.ts';
import type { Answer } from '../../harness/client/http-client.ts';
import { canariesIn } from '../../harness/expect/canaries.ts';
import { expectRedirect } from '../../harness/expect/expectations.ts';
import { OAuthPage } from '../../harness/login/oauth-page.ts';
import { SessionPage } from '../../harness/login/session-page.ts';
import type { Page } from '../../harness/provider/pages.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { RefreshingProvider } from '../../harness/provider/refreshing-provider.ts';
import { secretFile } from '../../harness/relay/relay-under-test.ts';

/** A relay of one provider and one front end, which says who may log in. */
export interface Guarded {
  /** The settings of the front end `app`, as YAML in one line. */
  readonly frontEnd: string;
  /** The settings of the provider besides its addresses, as YAML in one line. */
  readonly provider?: string;
  /** Settings of the relay, as lines of YAML. */
  readonly more?: string;
}

/** The address of a page of the front end that sessions accept. */
export const guardedOrigin = 'https://app.relay.example';

/** A provider with refresh tokens, and a relay in this process whose configuration is a file. */
export class GuardedRelay {
  readonly provider: RefreshingProvider;
  /** The lines of its log. */
  readonly lines: Record<string, unknown>[] = [];
  readonly #server: Server;
  readonly #keyFile: string;
  #memory = createMemory(() => this.#now());
  #relay: Awaited<ReturnType<typeof createRelay>> | undefined;
  #ahead = 0;

  static async start(): Promise<GuardedRelay> {
    const provider = await RefreshingProvider.start();
    const key = await secretFile('the line of a key file with 32 characters or more');
    const relay = new GuardedRelay(provider, key);
    await new Promise<void>((resolve) => relay.#server.listen(0, '127.0.0.1', resolve));
    return relay;
  }

  private constructor(provider: RefreshingProvider, keyFile: string) {
    this.provider = provider;
    this.#keyFile = keyFile;
    this.#server = createServer((request, response) => this.#relay?.listener(request, response));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Forgets everything, and uses this configuration. The person is `ada` until a page says otherwise. */
  async guard(guarded: Guarded): Promise<void> {
    this.provider.forget();
    this.provider.pages = { 'GET /user': json({ login: 'ada', id: 1 }) };
    this.lines.length = 0;
    this.#ahead = 0;
    this.#memory = createMemory(() => this.#now());
    await this.reload(guarded);
  }

  /** Uses another configuration, as after SIGHUP. */
  async reload({ frontEnd, provider = '', more = '' }: Guarded): Promise<void> {
    const { authorizeUrl, tokenUrl, origin, registration } = this.provider;
    const file = `base-url: https://relay.example
key-file: ${this.#keyFile}
${more}
providers:
  provider:
    { provider: github, client-id: client-1, client-secret: ${registration.clientSecret}, authorize-url: ${authorizeUrl},
      token-url: ${tokenUrl}, user-url: ${origin}/user, revocation-url: ${origin}/revoke, token-request: body,
      ${provider} }
front-ends:
  app: { origin: ${guardedOrigin}, ${frontEnd} }
`;
    const { config } = readConfig({
      flags: { config: ['guarded.yaml'] },
      environment: {},
      readFile: (path) =>
        path === 'guarded.yaml' ? { text: file, readableByOthers: false } : readTextFile(path),
    });
    const log = pino(
      { base: null },
      { write: (line: string) => void this.lines.push(JSON.parse(line)) },
    );
    const surroundings = { now: () => this.#now(), memory: this.#memory };
    const before = this.#relay;
    this.#relay = await createRelay(config, log, surroundings);
    // Requests in flight end with it.
    if (before !== undefined) this.#old.push(before);
  }

  readonly #old: Awaited<ReturnType<typeof createRelay>>[] = [];

  /** What the provider answers to `GET /user/…`, besides the user record. */
  answer(pages: Readonly<Record<string, Page>>): void {
    this.provider.pages = { ...this.provider.pages, ...pages };
  }

  /** Moves the clock of the relay. */
  advance(milliseconds: number): void {
    this.#ahead += milliseconds;
  }

  /** Logs in without PKCE. Returns the answer to the callback. */
  async logIn(browser = this.browser()): Promise<Answer> {
    return await browser.open(await this.callbackOf(browser));
  }

  /** The callback of a login that the provider has granted. */
  async callbackOf(browser: FakeBrowser, start = '/auth/provider'): Promise<string> {
    const request = expectRedirect(await browser.open(start));
    const state = request.searchParams.get('state') ?? '';
    const code = this.provider.authorize(request);
    return `/auth/provider/callback?${new URLSearchParams({ code, state })}`;
  }

  browser(): FakeBrowser {
    return new FakeBrowser(() => this);
  }

  sessionPage(): SessionPage {
    return new SessionPage(() => this, this.provider);
  }

  oauthPage(): OAuthPage {
    return new OAuthPage(this, this.provider, undefined);
  }

  /** The paths that the provider was asked for, besides its endpoints. */
  get asked(): string[] {
    return this.provider.asked;
  }

  #now(): number {
    return Date.now() + this.#ahead;
  }

  async stop(): Promise<void> {
    for (const relay of [...this.#old, this.#relay]) relay?.close();
    this.#server.closeAllConnections();
    this.#server.close();
    await this.provider.stop();
  }
}

/** One relay for the enclosing `describe`. */
export function guardedRelay(): () => GuardedRelay {
  let relay: GuardedRelay | undefined;
  before('start the provider and the relay', async () => {
    relay = await GuardedRelay.start();
  });
  after('stop them', async () => await relay?.stop());
  return () => {
    if (relay === undefined) throw new Error('the relay has not started');
    return relay;
  };
}

/** Whether an answer holds a token, a code, or the cookie of a session. */
export function givesAway({ headers, body }: Answer): boolean {
  const cookies = [headers['set-cookie'] ?? []].flat();
  const hasSession = cookies.some((one) => /lr_session/.test(one) && !/Max-Age=0/i.test(one));
  const text = JSON.stringify(headers) + body;
  return hasSession || canariesIn(text).size > 0 || /access_token|[?&#"]code[="]/.test(text);
}
