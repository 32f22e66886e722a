import { readFileSync } from 'node:fs';

/** What every user of the machine can see of a process: its command line, as titles change it. */
export function commandLineOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
}
