import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { RelayUnderTest } from '../relay/relay-under-test.ts';

/** The file of a log, on a disk that is full. */
export class FullDisk {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** A command that runs another command, whose log has room for only 20,000 bytes. */
  get launcher(): string[] {
    const redirected = `exec "$0" "$@" >"${this.#file}"`;
    return ['prlimit', '--fsize=20000:unlimited', 'sh', '-c', redirected];
  }

  makeRoom({ process: { pid } }: RelayUnderTest): void {
    execFileSync('prlimit', [`--pid=${pid}`, '--fsize=unlimited']);
  }

  lines(): string[] {
    return readFileSync(this.#file, 'utf8').trimEnd().split('\n');
  }
}
