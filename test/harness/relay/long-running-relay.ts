import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Invocation, spawnRelay } from './relay-command.ts';

/** Who reads what a relay writes. */
interface Reader {
  onLine?(line: string): void;
  onComplaint(text: string): void;
}

/** A relay for millions of requests: what it writes is handed on, and not kept. */
export class LongRunningRelay {
  readonly port: number;
  readonly metricsAddress: string;
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown[]>;

  private constructor(child: ChildProcess, listening: Record<string, unknown>) {
    this.#child = child;
    this.#ended = once(child, 'close');
    this.pid = child.pid ?? 0;
    this.port = Number(new URL(String(listening['address'])).port);
    this.metricsAddress = String(listening['metricsAddress']);
  }

  /** Resolves once it listens; rejects if it ends before. */
  static async start(invocation: Invocation, reader: Reader): Promise<LongRunningRelay> {
    const child = spawnRelay(invocation);
    child.stderr.setEncoding('utf8').on('data', (text: string) => reader.onComplaint(text));
    const listening = await new Promise<Record<string, unknown>>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`the relay ended with ${code}`)));
      createInterface(child.stdout).on('line', (line) => {
        if (line.includes('"msg":"listening"')) resolve(JSON.parse(line));
        else reader.onLine?.(line);
      });
    });
    return new LongRunningRelay(child, listening);
  }

  /** Ends it; answers how it ended, unless it ended well. */
  async stop(): Promise<string | undefined> {
    this.#child.kill();
    const [code, signal] = await this.#ended;
    return code === 0 ? undefined : `the relay ended with ${code ?? signal}`;
  }
}
