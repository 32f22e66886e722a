import { readFileSync } from 'node:fs';

/** The processes that this one has started and that still run, the oldest first. */
export function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.split(' ').filter(Boolean).map(Number);
}

/** What every user of the machine can see of a process: its command line, as titles change it. */
export function commandLineOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
}

/** The environment that a process was started with. */
export function environmentOf(pid: number): string {
  return readFileSync(`/proc/${pid}/environ`, 'utf8');
}
