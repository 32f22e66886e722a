import { readFileSync } from 'node:fs';

/** The memory of a process in MiB: what is resident now, or the most that was. Linux only. */
export function memoryOf(pid: number, which: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${which}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
}

/** The command line of a process, which every user of the machine can see. */
export function commandLineOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
}
