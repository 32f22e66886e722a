import { newProofKey } from '../../../harness/client/proof.ts';
import { OAuthPage } from '../../../harness/login/oauth-page.ts';
import { SessionPage, sessionOrigin } from '../../../harness/login/session-page.ts';
import { RefreshingProvider } from '../../../harness/provider/refreshing-provider.ts';
import type { Flags, LogLine } from '../../../harness/relay/relay-process.ts';
import {
  baseUrl,
  frontendOrigin,
  keyFile,
  listening,
  Relay,
  secretFile,
} from '../../../harness/relay/relay-under-test.ts';

/** Relays for one provider, and a balancer that gives each request to the next relay. */
export class Relays {
  readonly provider: RefreshingProvider;
  readonly #flags: Flags;
  #relays: Relay[] = [];
  #turn = 0;

  private constructor(provider: RefreshingProvider, flags: Flags) {
    this.provider = provider;
    this.#flags = flags;
  }

  static async start(count: number, flags: Flags = {}): Promise<Relays> {
    const provider = await RefreshingProvider.start();
    const relays = new Relays(provider, {
      port: '0',
      origin: frontendOrigin,
      'base-url': baseUrl,
      'client-id': provider.registration.clientId,
      'client-secret-file': await secretFile(provider.registration.clientSecret),
      'key-file': await keyFile(),
      'refused-exchanges': '0',
      ...provider.flags,
      ...flags,
    });
    relays.#relays = await Promise.all(Array.from({ length: count }, () => relays.#start()));
    return relays;
  }

  /** Resolves once all of them have found the memory that they share. */
  async share(): Promise<this> {
    const isThere = ({ msg }: LogLine) => /^shared memory is (in use|back)$/.test(`${msg}`);
    await Promise.all(this.#relays.map(({ process }) => process.logLine(isThere)));
    return this;
  }

  /** The relays, in their order. */
  get each(): readonly Relay[] {
    return this.#relays;
  }

  /** The port of the next relay. */
  get port(): number {
    this.#turn += 1;
    return this.at(this.#turn).port;
  }

  at(index: number): Relay {
    const relay = this.#relays[index % this.#relays.length];
    if (relay === undefined) throw new Error('there is no relay');
    return relay;
  }

  /** Replaces each relay by a new relay. */
  async restart(): Promise<void> {
    const before = this.#relays;
    this.#relays = await Promise.all(before.map(() => this.#start()));
    await Promise.all(before.map((relay) => relay.stop()));
  }

  /** Replaces one relay. The new relay takes requests before the old relay stops. */
  async replace(index: number): Promise<void> {
    const relay = await this.#start();
    const before = this.at(index);
    this.#relays = this.#relays.map((one) => (one === before ? relay : one));
    await before.stop();
  }

  /** Ends a relay at once. */
  async kill(relay: Relay): Promise<void> {
    this.#relays = this.#relays.filter((one) => one !== relay);
    await relay.process.stop('SIGKILL');
  }

  /** A page that has logged in, with its tokens. Each of its requests goes to the next relay. */
  async loggedInPage() {
    const page = new OAuthPage(this, this.provider, await newProofKey());
    return { page, ...(await page.logIn()) };
  }

  /** The same with a session instead of tokens. */
  async sessionPage(): Promise<SessionPage> {
    const page = new SessionPage(() => this, this.provider);
    await page.logIn();
    return page;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#relays.splice(0).map((relay) => relay.stop()));
    await this.provider.stop();
  }

  async #start(): Promise<Relay> {
    const { relay, port } = await listening({ flags: this.#flags });
    return new Relay(relay, port);
  }
}

/** The flags of relays whose front end has sessions. */
export const withSessions: Flags = { origin: sessionOrigin, 'token-delivery': 'session' };

/** Each refresh at the provider takes some time, or until a promise resolves. */
export function slowly(provider: RefreshingProvider, patience?: Promise<void>): void {
  Object.defineProperty(provider.mood, 'patience', {
    configurable: true,
    enumerable: true,
    get: () => patience ?? new Promise((resolve) => setTimeout(resolve, 150)),
    set: () => {},
  });
}
