import { readdirSync, readFileSync } from 'node:fs';
import { LongRunningRelay } from '../../harness/relay/long-running-relay.ts';
import type { Flags } from '../../harness/relay/relay-command.ts';
import { redirectUri } from './provider.ts';

/** The front end's origin in every long run. */
export const frontEnd = 'https://app.example';

/** A relay as a process. Its log is read and dropped. */
export class Relay {
  readonly #relay: LongRunningRelay;

  private constructor(relay: LongRunningRelay) {
    this.#relay = relay;
  }

  /** @param flags in addition to those that every relay here has */
  static async start(flags: Flags): Promise<Relay> {
    const usual = { port: '0', 'metrics-port': '0', origin: frontEnd, 'client-id': 'client-1' };
    const relay = await LongRunningRelay.start(
      {
        flags: { ...usual, 'base-url': new URL(redirectUri).origin, ...flags },
        env: { PROVIDER_CLIENT_SECRET: 'a-secret-of-the-endurance-runs' },
      },
      { onComplaint: (text) => process.stderr.write(text) },
    );
    return new Relay(relay);
  }

  get port(): number {
    return this.#relay.port;
  }

  /** Resident memory, in bytes. */
  residentMemory(): number {
    const status = readFileSync(`/proc/${this.#relay.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }

  descriptors(): number {
    return readdirSync(`/proc/${this.#relay.pid}/fd`).length;
  }

  /** The 99th percentile of the event loop's delay since the previous call, in milliseconds. */
  async eventLoopDelay(): Promise<number> {
    const answer = await fetch(`${this.#relay.metricsAddress}/metrics`, {
      headers: { Connection: 'close' },
    });
    const lag = /^login_relay_nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(await answer.text());
    return Number(lag?.[1]) * 1000;
  }

  /** Stops it. Throws unless its exit code is 0. */
  async stop(): Promise<void> {
    const fault = await this.#relay.stop();
    if (fault !== undefined) throw new Error(fault);
  }
}
