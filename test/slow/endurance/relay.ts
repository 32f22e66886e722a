import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { redirectUri } from './provider.ts';

/** The front end's origin in every long run. */
export const frontEnd = 'https://app.example';

/** A relay in a process of its own; its log is read and thrown away. */
export class Relay {
  readonly port: number;
  readonly metricsAddress: string;
  readonly pid: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, address: string, metricsAddress: string) {
    this.#child = child;
    this.pid = child.pid ?? 0;
    this.port = Number(new URL(address).port);
    this.metricsAddress = metricsAddress;
  }

  /** @param flags beyond those that every relay here has; `LOGIN_RELAY` names another executable */
  static async start(flags: readonly string[]): Promise<Relay> {
    const executable = process.env['LOGIN_RELAY'];
    const source = fileURLToPath(new URL('../../../bin/login-relay.ts', import.meta.url));
    const child = spawn(
      executable ?? process.execPath,
      [
        ...(executable === undefined ? [source] : []),
        ...['--port', '0', '--metrics-port', '0', '--origin', frontEnd],
        ...['--base-url', new URL(redirectUri).origin, '--client-id', 'client-1', ...flags],
      ],
      {
        env: {
          PATH: process.env['PATH'],
          PROVIDER_CLIENT_SECRET: 'a-secret-of-the-endurance-runs',
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const [line] = await once(createInterface(child.stdout), 'line');
    child.stdout.removeAllListeners('data').resume();
    const { address, metricsAddress } = JSON.parse(line);
    return new Relay(child, address, metricsAddress);
  }

  /** Resident memory, in bytes. */
  residentMemory(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }

  descriptors(): number {
    return readdirSync(`/proc/${this.pid}/fd`).length;
  }

  /** The 99th percentile of the event loop's delay since this was last asked, in milliseconds. */
  async eventLoopDelay(): Promise<number> {
    const answer = await fetch(`${this.metricsAddress}/metrics`, {
      headers: { Connection: 'close' },
    });
    const lag = /^login_relay_nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(await answer.text());
    return Number(lag?.[1]) * 1000;
  }

  /** Ends it; throws unless it ends well. */
  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill();
    const [code, signal] = await ended;
    if (code !== 0) throw new Error(`the relay ended with ${code ?? signal}`);
  }
}
