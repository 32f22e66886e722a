import { readdirSync, readFileSync } from 'node:fs';

/** The resident memory of a process in MiB, either now or at its maximum. Linux only. */
export function memoryOf(pid: number, which: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${which}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
}

/** The command line of a process, which every user of the machine can see. */
export function commandLineOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
}

/** The CPU time of a process so far, user and system, in nanoseconds. Linux only. */
export function cpuTimeOf(pid: number): number {
  return threadsOf(pid)
    .map((thread) => Number.parseInt(readFileSync(`${thread}/schedstat`, 'utf8'), 10))
    .reduce((sum, time) => sum + time, 0);
}

/** A process and all that it has started. Linux only. */
export function familyOf(pid: number): number[] {
  const children = threadsOf(pid).flatMap((thread) => readFileSync(`${thread}/children`, 'utf8').split(' '));
  return [pid, ...children.filter(Boolean).flatMap((child) => familyOf(Number(child)))];
}

function threadsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`);
}
