import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

const patience = 20_000;
const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** A process that keeps to one core, and whose output goes to a pipe, as under a supervisor. */
export class PinnedProcess {
  readonly pid: number;
  readonly #child: ChildProcess;
  #output = '';
  readonly #keepOutput = (text: Buffer) => {
    this.#output += text;
  };

  constructor(core: number, command: readonly string[], environment: Record<string, string> = {}) {
    this.#child = spawn('taskset', ['-c', String(core), ...command], {
      env: { PATH: process.env['PATH'], ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of this.#outputs()) stream.on('data', this.#keepOutput);
    living.add(this.#child);
    this.pid = this.#child.pid ?? 0;
  }

  /**
   * Resolves with what `find` makes of the process, once it makes anything of it. What it writes
   * after that is thrown away.
   *
   * @param find gets what the process has written so far
   * @throws where the process ends before, or keeps one waiting for 20 seconds
   */
  async ready<T>(find: (output: string) => T | undefined | Promise<T | undefined>): Promise<T> {
    const deadline = performance.now() + patience;
    while (!this.#hasEnded() && performance.now() < deadline) {
      const found = await find(this.#output);
      if (found !== undefined) {
        for (const stream of this.#outputs()) stream.off('data', this.#keepOutput).resume();
        return found;
      }
      await wait(20);
    }
    throw new Error(`${this.#child.spawnargs.join(' ')} does not start:\n${this.#output}`);
  }

  async stop(): Promise<void> {
    if (!this.#hasEnded()) {
      const ended = once(this.#child, 'exit');
      this.#child.kill();
      await ended;
    }
    living.delete(this.#child);
  }

  #outputs() {
    return [this.#child.stdout, this.#child.stderr].filter((stream) => stream !== null);
  }

  #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}
