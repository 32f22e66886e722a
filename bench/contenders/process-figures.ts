import { readdirSync, readFileSync } from 'node:fs';

/** A process with all that it has started. */
function family(pid: number): number[] {
  const children = threads(pid).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return [pid, ...children.flatMap((child) => family(Number(child)))];
}

function threads(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`);
}

/** The CPU time of a process and its children so far, user and system, in microseconds. */
export function cpuTime(pid: number): number {
  const times = family(pid).flatMap((member) =>
    threads(member).map((thread) => {
      const [running] = readFileSync(`/proc/${member}/task/${thread}/schedstat`, 'utf8').split(' ');
      return Number(running) / 1000;
    }),
  );
  return times.reduce((sum, time) => sum + time, 0);
}

/** The resident memory of a process and its children, in MiB. */
export function residentMemory(pid: number): number {
  const sizes = family(pid).map((member) => {
    const [, kibibytes] =
      /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${member}/status`, 'utf8')) ?? [];
    return Number(kibibytes) / 1024;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}
