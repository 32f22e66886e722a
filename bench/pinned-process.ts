import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { cpuTimeOf, familyOf, memoryOf } from '../test/harness/system/processes.ts';

const startTime = 120_000;
const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** A program on one core. It must write its address: `"address":"http://127.0.0.1:8000"`. Needs Linux. */
export class PinnedProcess {
  readonly #child: ChildProcess;

  /** @param note gets what the program writes */
  constructor(
    core: number,
    command: readonly string[],
    environment: Record<string, string> = {},
    note: (output: string) => void = () => {},
  ) {
    this.#child = spawn('taskset', ['-c', String(core), ...command], {
      env: { PATH: process.env['PATH'], ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child.stdout?.setEncoding('latin1').on('data', note);
    living.add(this.#child);
  }

  /** Resolves with the port that the program listens on. @throws if it does not start in two minutes */
  async port(): Promise<number> {
    const { stdout, spawnargs } = this.#child;
    let output = '';
    stdout?.setEncoding('latin1').on('data', (text: string) => {
      if (output.length < 10_000) output += text;
    });
    for (const deadline = performance.now() + startTime; performance.now() < deadline; ) {
      const [, port] = /"address":"http:\/\/127\.0\.0\.1:(\d+)"/.exec(output) ?? [];
      if (port !== undefined) return Number(port);
      if (this.#child.exitCode !== null) break;
      await wait(1);
    }
    throw new Error(`${spawnargs.join(' ')} does not start:\n${output}`);
  }

  /** CPU time so far, user and system, children included, in microseconds. */
  cpuTime(): number {
    return this.#total(cpuTimeOf) / 1000;
  }

  /** Resident memory, children included, in MiB. */
  memory(): number {
    return this.#total(memoryOf);
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    if (this.#child.kill()) await ended;
    living.delete(this.#child);
  }

  #total(figureOf: (pid: number) => number): number {
    const pids = familyOf(this.#child.pid ?? 0);
    return pids.reduce((total, pid) => total + figureOf(pid), 0);
  }
}
