import { readFileSync } from 'node:fs';

/** The command line of a process, which every user of the machine can see. */
export function commandLineOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
}
