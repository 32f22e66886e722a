import { expect } from 'chai';
import { type Answer, send } from '../client/http-client.ts';
import type { Flags, LogLine, RelayProcess } from './relay-process.ts';
import {
  baseUrl,
  frontendOrigin,
  listening,
  userPath,
  withSecretFile,
} from './relay-under-test.ts';

/** The client as it is registered at a provider. */
export interface Client {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A relay that listens, whatever its provider is. */
export class Relay {
  readonly process: RelayProcess;
  readonly port: number;

  constructor(process: RelayProcess, port: number) {
    this.process = process;
    this.port = port;
  }

  /** A request of a plain HTTP client, which shows no sign of a browser. */
  async get(path: string): Promise<Answer> {
    return await send(this.port, { path });
  }

  async lookUp(token: string): Promise<Answer> {
    return await send(this.port, {
      path: userPath,
      headers: [['Authorization', `Bearer ${token}`]],
    });
  }

  /** The log line of the request that came to this end, once it is written. */
  async requestLine(outcome: string): Promise<LogLine> {
    return await this.process.logLine(
      (line) => line['msg'] === 'request' && line['outcome'] === outcome,
    );
  }

  /** The first log line on an attempt at discovery that came to this end. */
  async discoveryLine(outcome: 'discovered' | 'failed'): Promise<LogLine> {
    return await this.process.logLine(
      (line) => line['msg'] === 'provider discovery' && line['outcome'] === outcome,
    );
  }

  /** Ends it; it must end well, with nothing to complain about. */
  async stop(): Promise<void> {
    const { code, stderr } = await this.process.stop();
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
  }
}

/** What is particular about a relay. */
export interface RelaySettings {
  readonly client: Client;
  readonly flags: Flags;
  readonly env?: Record<string, string>;
}

/**
 * Answers a function that starts relays. Those that a test starts end with the test, those that a
 * hook starts end with the `describe` that this is called in.
 */
export function useRelays(): (settings: RelaySettings) => Promise<Relay> {
  const ofSuite: Relay[] = [];
  const ofTest: Relay[] = [];
  let started = ofSuite;
  beforeEach(() => {
    started = ofTest;
  });
  afterEach('stop the relays of the test', async () => {
    started = ofSuite;
    await stopAll(ofTest);
  });
  after('stop the relays', async () => await stopAll(ofSuite));

  return async ({ client, flags, env = {} }) =>
    await withSecretFile(client.clientSecret, async (file) => {
      const { relay, port } = await listening({
        flags: {
          port: '0',
          origin: frontendOrigin,
          'base-url': baseUrl,
          'client-id': client.clientId,
          'client-secret-file': file,
          ...flags,
        },
        env,
      });
      const running = new Relay(relay, port);
      started.push(running);
      return running;
    });
}

async function stopAll(relays: Relay[]): Promise<void> {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()));
}
