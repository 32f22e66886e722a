import type { RunningContender } from '../contenders/contender.ts';
import { residentMemory } from '../contenders/process-figures.ts';
import { closedLoop, times } from '../load/closed-loop.ts';
import type { Workload } from '../workloads/workload.ts';
import type { Pace } from './pace.ts';

const users = 16;

/** MiB that a server holds. */
export interface Memory {
  readonly atStart: number;
  readonly halfway: number;
  readonly afterwards: number;
}

/** Does the workload so many times, and as many times again. */
export async function measureMemory(
  workload: Workload,
  contenders: ReadonlyMap<string, RunningContender>,
  { forMemory }: Pace,
): Promise<Map<string, Memory>> {
  const memory = new Map<string, Memory>();
  for (const [name, { target, pid }] of contenders) {
    if (pid === undefined) continue;
    const atStart = residentMemory(pid);
    await closedLoop(workload, target, users, times(forMemory));
    const halfway = residentMemory(pid);
    await closedLoop(workload, target, users, times(forMemory));
    memory.set(name, { atStart, halfway, afterwards: residentMemory(pid) });
  }
  return memory;
}
