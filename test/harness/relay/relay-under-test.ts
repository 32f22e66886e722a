import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Answer, type Sending, send, sendBytes } from '../client/http-client.ts';
import { canary } from '../expect/canaries.ts';
import { type ClientRegistration, StrictProvider } from '../provider/strict-provider.ts';
import { type Flags, type Invocation, RelayProcess } from './relay-process.ts';

/** The front end's origin in every test that does not say otherwise. */
export const frontendOrigin = 'https://app.example';
/** The relay's address as the outside world sees it: nothing a request says can be mistaken for it. */
export const baseUrl = 'https://relay.example';
export const redirectUri = `${baseUrl}/auth/provider/callback`;
export const loginPath = '/auth/provider';
export const callbackPath = '/auth/provider/callback';
export const userPath = '/api/user';

/** A relay that listens, and the strict provider that it was configured with. */
export class RelayUnderTest {
  readonly #relay: RelayProcess;
  readonly port: number;
  readonly provider: StrictProvider;

  constructor(relay: RelayProcess, port: number, provider: StrictProvider) {
    this.#relay = relay;
    this.port = port;
    this.provider = provider;
  }

  get process(): RelayProcess {
    return this.#relay;
  }

  async send(sending: Sending): Promise<Answer> {
    return await send(this.port, sending);
  }

  async sendBytes(bytes: string | Buffer): Promise<Answer> {
    return await sendBytes(this.port, bytes);
  }

  async get(path: string): Promise<Answer> {
    return await this.send({ path });
  }

  /** The callback with this `code`, encoded. */
  async logIn(code = canary('code')): Promise<Answer> {
    return await this.get(`${callbackPath}?code=${encodeURIComponent(code)}`);
  }

  /** The user lookup with this `Authorization` value. */
  async lookUp(authorization = `Bearer ${canary('token')}`): Promise<Answer> {
    return await this.send({ path: userPath, headers: [['Authorization', authorization]] });
  }

  /** Stops both; the relay must end well, with nothing to complain about. */
  async stop(): Promise<void> {
    const ended = this.process.stop();
    // Without a provider no call stays in flight, whatever a failed test has left behind.
    await this.provider.stop();
    const { code, stderr } = await ended;
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
  }
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

/** Starts a command and waits until it says that it listens. */
export async function listening(
  invocation: Invocation,
): Promise<{ relay: RelayProcess; port: number; callbackUrl: unknown }> {
  const relay = new RelayProcess(invocation);
  const { address, callbackUrl } = await relay.logLine((line) => line['msg'] === 'listening');
  const port = Number(new URL(String(address)).port);
  return { relay, port, callbackUrl };
}

/** Flags that change the usual ones, or what makes them once the provider listens. */
export type FlagChanges = Flags | ((provider: StrictProvider) => Flags | Promise<Flags>);

/** Starts a strict provider and a relay for it; the caller stops them. */
export async function startRelay(
  changes: FlagChanges = {},
  client: Partial<ClientRegistration> = {},
): Promise<RelayUnderTest> {
  const provider = await StrictProvider.start(registration(client));
  try {
    return await withSecretFile(provider.registration.clientSecret, async (file) => {
      const changed = typeof changes === 'function' ? await changes(provider) : changes;
      const flags = { ...flagsFor(provider, file), ...changed };
      const { relay, port } = await listening({ flags });
      return new RelayUnderTest(relay, port, provider);
    });
  } catch (error) {
    await provider.stop();
    throw error;
  }
}

/**
 * One relay and one provider for the whole `describe` that this is called in. The provider behaves
 * well at the start of every test, and a violation that it records fails the test.
 */
export function relayUnderTest(
  flags: FlagChanges = {},
  client: Partial<ClientRegistration> = {},
): () => RelayUnderTest {
  let underTest: RelayUnderTest | undefined;
  before('start the relay', async () => {
    underTest = await startRelay(flags, client);
  });
  beforeEach(() => underTest?.provider.forget());
  afterEach('the provider saw nothing but what the specification says', () => {
    expect(underTest?.provider.violations).to.deep.equal([]);
  });
  after('stop the relay', async () => await underTest?.stop());
  return () => {
    if (!underTest) throw new Error('the relay has not started');
    return underTest;
  };
}

/** Runs the task with a file that only its owner can read and that holds exactly this content. */
export async function withSecretFile<T>(
  content: string,
  task: (file: string) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'login-relay-'));
  try {
    const file = join(directory, 'provider-client-secret');
    await writeFile(file, content, { mode: 0o600 });
    return await task(file);
  } finally {
    await rm(directory, { recursive: true });
  }
}
