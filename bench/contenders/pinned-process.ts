import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const patience = 20_000;
const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** A process that keeps to one core. Its output goes to a file, so that nobody has to read along. */
export class PinnedProcess {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #directory = mkdtempSync(join(tmpdir(), 'login-relay-bench-'));

  constructor(core: number, command: readonly string[], environment: Record<string, string> = {}) {
    const output = openSync(join(this.#directory, 'output'), 'a');
    this.#child = spawn('taskset', ['-c', String(core), ...command], {
      env: { PATH: process.env['PATH'], ...environment },
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    living.add(this.#child);
    this.pid = this.#child.pid ?? 0;
  }

  /**
   * Resolves with what `find` makes of the process, once it makes anything of it.
   *
   * @param find gets what the process has written so far
   * @throws where the process ends before, or keeps one waiting for 20 seconds
   */
  async ready<T>(find: (output: string) => T | undefined | Promise<T | undefined>): Promise<T> {
    const deadline = performance.now() + patience;
    while (!this.#hasEnded() && performance.now() < deadline) {
      const found = await find(this.#output());
      if (found !== undefined) return found;
      await wait(20);
    }
    throw new Error(`${this.#child.spawnargs.join(' ')} does not start:\n${this.#output()}`);
  }

  async stop(): Promise<void> {
    if (!this.#hasEnded()) {
      const ended = once(this.#child, 'exit');
      this.#child.kill();
      await ended;
    }
    living.delete(this.#child);
    rmSync(this.#directory, { recursive: true });
  }

  #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #output(): string {
    return readFileSync(join(this.#directory, 'output'), 'utf8');
  }
}
