import { createAccess, createAccessMemory } from '../../../src/access/access.ts';
import type { Allow } from '../../../src/access/allow.ts';
import type { Identity, IdentityQuestion } from '../../../src/access/identity.ts';
import { RelayError } from '../../../src/failures/relay-error.ts';
import { presets } from '../../../src/providers/presets.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import { Secret } from '../../../src/sealing/secret.ts';
import { createUpstreamClient } from '../../../src/upstream/client.ts';
import { createProviderEndpoints } from '../../../src/upstream/provider-endpoints.ts';
import { type Page, type PageRequest, pageFor, pageRequest } from '../../harness/provider/pages.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';

/** Milliseconds; long enough for a busy machine. */
const timeout = 10_000;

/** A provider at a preset's paths on this machine, and what asks it who may log in. */
export class Asking {
  /** By method and path. Anything else is 404. */
  pages: Readonly<Record<string, Page>> = {};
  readonly requests: PageRequest[] = [];
  /** The settings of the provider that a reload changes. */
  changes: Partial<Provider> = {};
  /** Milliseconds that all questions about a person may take together. */
  timeout = timeout;
  readonly #serving: Serving;
  readonly #client = createUpstreamClient({ timeout, concurrentCalls: 64 });
  #now = Date.now();
  readonly #memory = createAccessMemory({ now: () => this.#now });

  static async start(): Promise<Asking> {
    const serving = await serve((message, response) => {
      const request = pageRequest(message, '');
      asking.requests.push(request);
      (pageFor(request, asking.pages) ?? json({ message: 'Not Found' }, 404))(response, request);
    });
    const asking = new Asking(serving);
    return asking;
  }

  private constructor(serving: Serving) {
    this.#serving = serving;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#serving.port}`;
  }

  /** The preset with its user URL at this machine, or `openid` for a provider that has only claims. */
  provider(name: string): Provider {
    const preset = presets.find((one) => one.name === name)?.provider;
    const url = preset?.userUrl?.replace('{host}', 'host').replace('{tenant}', 'staff');
    const userUrl = this.origin + (url === undefined ? '/userinfo' : new URL(url).pathname);
    return { ...presets[0]?.provider, access: undefined, ...preset, userUrl, ...this.changes } as Provider;
  }

  /** Whether a person may log in: `allowed`, or why not. */
  async ask(name: string, allow: Allow | readonly Allow[], token = 'a-token', audience = 'audience'): Promise<string> {
    try {
      const { refusedBy } = await this.#verdict(name, [allow].flat() as Allow[], token, audience);
      return refusedBy === undefined ? 'allowed' : 'refused';
    } catch (error) {
      return failureOf(error);
    }
  }

  /** Who a person is, or why that is not known. */
  async identify(name: string, question: IdentityQuestion): Promise<Identity | string | undefined> {
    try {
      return (await this.#verdict(name, [], 'a-token', 'audience', question)).identity;
    } catch (error) {
      return failureOf(error);
    }
  }

  #verdict(name: string, allows: readonly Allow[], token: string, audience: string, question?: IdentityQuestion) {
    const provider = this.provider(name);
    const registered = {
      ...provider,
      clientId: 'client-1',
      clientSecret: new Secret('secret'),
      callbackUri: 'https://relay.example/auth/provider/callback',
    };
    const endpoints = createProviderEndpoints(this.#client, registered);
    const access = createAccess(this.#memory, endpoints, {
      provider,
      audience,
      clientId: 'client-1',
      now: () => this.#now,
      timeout: this.timeout,
    });
    return access.judge({ accessToken: token }, allows, question, () => {});
  }

  /** Lets time pass. */
  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }

  async stop(): Promise<void> {
    this.#client.close();
    await this.#serving.close();
  }
}

function failureOf(error: unknown): string {
  if (!(error instanceof RelayError)) throw error;
  return `${error.code} ${error.status}`;
}

/** One provider for the enclosing `describe`. Nothing is remembered from test to test. */
export function asksProvider(): () => Asking {
  let asking: Asking | undefined;
  before('start the provider', async () => {
    asking = await Asking.start();
  });
  beforeEach(() => {
    if (asking === undefined) return;
    asking.advance(61_000);
    asking.requests.length = 0;
    Object.assign(asking, { pages: {}, changes: {}, timeout });
  });
  after('stop the provider', async () => await asking?.stop());
  return () => {
    if (asking === undefined) throw new Error('the provider has not started');
    return asking;
  };
}
