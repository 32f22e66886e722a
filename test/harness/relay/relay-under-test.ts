import { expect } from 'chai';
import { canary, expectNoneRemembered } from '../expect/canaries.ts';
import { expectToken, expectUser } from '../expect/expectations.ts';
import { type ClientRegistration, StrictProvider } from '../provider/strict-provider.ts';
import { eventually } from '../system/eventually.ts';
import { freePort } from '../system/free-port.ts';
import { secretFile } from '../system/secret-file.ts';
import { startedOnce } from '../system/started-once.ts';
import { everyOption, tlsPorts } from '../system/variant.ts';
import { withEveryOption } from './every-option.ts';
import { baseUrl, frontendOrigin, Relay, redirectUri } from './relay.ts';
import { type Flags, type Invocation, RelayProcess } from './relay-process.ts';

export * from '../system/secret-file.ts';
export * from './relay.ts';

/** A relay that listens, and its strict provider. */
export class RelayUnderTest extends Relay {
  readonly provider: StrictProvider;
  /** The file with the client secret. */
  readonly secretFile: string;

  constructor(process: RelayProcess, port: number, provider: StrictProvider, secretFile = '') {
    super(process, port);
    this.provider = provider;
    this.secretFile = secretFile;
  }

  /** Stops both. The relay must end with code 0. */
  override async stop(): Promise<void> {
    const ended = super.stop();
    // Stop the provider first, so that no call stays in flight after a failed test.
    await this.provider.stop();
    await ended;
  }
}

/** Checks that the relay logs in and looks up. */
export async function expectService(relay: Relay): Promise<void> {
  expectToken(await relay.logIn());
  expectUser(await relay.lookUp());
}

/** The relay as a client of a provider. */
export interface Client {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A client registration whose secret is a canary. */
export function registration(changes: Partial<ClientRegistration> = {}): ClientRegistration {
  return {
    clientId: 'client-1',
    clientSecret: canary('secret'),
    redirectUri,
    tokenRequest: 'query',
    ...changes,
  };
}

/** Flags that configure a relay for the provider, on any free port. */
export function flagsFor(provider: StrictProvider, secretFile: string): Flags {
  return {
    port: '0',
    origin: frontendOrigin,
    'base-url': baseUrl,
    'client-id': provider.registration.clientId,
    'client-secret-file': secretFile,
    'authorize-url': provider.authorizeUrl,
    'token-url': provider.tokenUrl,
    'user-url': provider.userUrl,
  };
}

/** Starts a command, and waits until it logs that it listens. */
export async function listening(
  invocation: Invocation,
): Promise<{ relay: RelayProcess; port: number; callbackUrl: unknown }> {
  const given = invocation.flags ?? {};
  const { flags, end } = everyOption ? await withEveryOption(given) : { flags: given, end: undefined };
  const relay = new RelayProcess({ ...invocation, flags });
  if (end !== undefined) relay.ended.then(end, end);
  const { address, callbackUrl } = await relay.logLine((line) => line['msg'] === 'listening');
  const { protocol, port: portText } = new URL(String(address));
  const port = Number(portText);
  if (everyOption && protocol === 'https:') {
    tlsPorts.add(port);
    relay.ended.finally(() => tlsPorts.delete(port)).catch(() => {});
  }
  return { relay, port, callbackUrl };
}

/** Starts a relay with this configuration file. */
export async function startRelayWith(text: string, flags: Flags = {}): Promise<Relay> {
  const { relay, port } = await listening({ flags: { config: await secretFile(text), ...flags } });
  return new Relay(relay, port);
}

/** Flags of a relay whose discovery fails. */
export const undiscovered: Flags = {
  issuer: 'http://127.0.0.1:1',
  'authorize-url': undefined,
  'token-url': undefined,
  'user-url': undefined,
};

/** Flags that change the defaults, or a function that returns them after the provider listens. */
export type FlagChanges = Flags | ((provider: StrictProvider) => Flags | Promise<Flags>);

/** Starts a relay for the provider. The caller stops them. */
export async function startRelayFor(
  provider: StrictProvider,
  changes: FlagChanges = {},
  how: Omit<Invocation, 'flags'> = {},
): Promise<RelayUnderTest> {
  const file = await secretFile(provider.registration.clientSecret);
  const changed = typeof changes === 'function' ? await changes(provider) : changes;
  const { relay, port } = await listening({
    ...how,
    flags: { ...flagsFor(provider, file), ...changed },
  });
  return new RelayUnderTest(relay, port, provider, file);
}

/** Starts a strict provider and a relay for it. The caller stops them. */
export async function startRelay(
  changes: FlagChanges = {},
  client: Partial<ClientRegistration> = {},
  how: Omit<Invocation, 'flags'> = {},
): Promise<RelayUnderTest> {
  const provider = await StrictProvider.start(registration(client));
  try {
    return await startRelayFor(provider, changes, how);
  } catch (error) {
    await provider.stop();
    throw error;
  }
}

/**
 * One relay and one provider for the enclosing `describe`. The provider is reset before every test, and a
 * violation that it records fails the test. At the end, the log is searched for all secrets that browsers
 * got.
 */
export function relayUnderTest(
  flags: FlagChanges = {},
  client: Partial<ClientRegistration> = {},
): () => RelayUnderTest {
  const underTest = startedOnce(
    'the relay',
    () => startRelay(flags, client),
    async (relay) => {
      await relay.stop();
      expectNoneRemembered(relay.process.stdout + relay.process.stderr);
    },
  );
  beforeEach(() => underTest().provider.forget());
  afterEach('the provider saw nothing but what the specification says', () => {
    expect(underTest().provider.violations).to.deep.equal([]);
  });
  return underTest;
}

/**
 * Returns a function that starts relays for other providers than the strict provider. A relay that a test starts ends
 * with the test. A relay that a hook starts ends with the enclosing `describe`.
 */
export function useRelays(): (settings: Omit<Invocation, 'words'> & { readonly client: Client }) => Promise<Relay> {
  const ofSuite: Relay[] = [];
  const ofTest: Relay[] = [];
  let started = ofSuite;
  const stopAll = (relays: Relay[]) => Promise.all(relays.splice(0).map((relay) => relay.stop()));
  beforeEach(() => {
    started = ofTest;
  });
  afterEach('stop the relays of the test', async () => {
    started = ofSuite;
    await stopAll(ofTest);
  });
  after('stop the relays', async () => void (await stopAll(ofSuite)));

  return async ({ client, flags, ...how }) => {
    const own = {
      port: '0',
      origin: frontendOrigin,
      'base-url': baseUrl,
      'client-id': client.clientId,
      'client-secret-file': await secretFile(client.clientSecret),
    };
    const { relay, port } = await listening({ ...how, flags: { ...own, ...flags } });
    const running = new Relay(relay, port);
    started.push(running);
    return running;
  };
}

/** The start of a relay that may be unable to log that it listens. */
interface Surroundings extends Omit<Invocation, 'flags'> {
  readonly flags?: FlagChanges;
  /** Its port. By default, any free port. */
  readonly port?: number;
  /** The address that the provider listens on. By default, 127.0.0.1. */
  readonly providerHost?: string;
}

/** Runs the task with a relay and its provider, and kills both at the end. */
export async function withRelay<T>(
  { flags: changes = {}, providerHost, ...how }: Surroundings,
  task: (underTest: RelayUnderTest) => Promise<T>,
): Promise<T> {
  const provider = await StrictProvider.start(registration(), providerHost);
  try {
    const port = how.port ?? (await freePort());
    const changed = typeof changes === 'function' ? await changes(provider) : changes;
    const file = await secretFile(provider.registration.clientSecret);
    const flags = { ...flagsFor(provider, file), port: `${port}`, ...changed };
    const relay = new RelayProcess({ ...how, flags });
    const underTest = new RelayUnderTest(relay, port, provider);
    try {
      const tooEarly = relay.ended.then(({ code, stderr }) => {
        throw new Error(`the relay ended with ${code} too early: ${stderr}`);
      });
      await Promise.race([eventually(() => underTest.get('/healthz')), tooEarly]);
      tooEarly.catch(() => {});
      return await task(underTest);
    } finally {
      await relay.stop('SIGKILL');
    }
  } finally {
    await provider.stop();
  }
}
