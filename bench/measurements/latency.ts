import type { RunningContender } from '../contenders/contender.ts';
import { cpuTime } from '../contenders/process-figures.ts';
import { openLoop } from '../load/open-loop.ts';
import { percentile, type Spread, spread } from '../statistics.ts';
import type { Workload } from '../workloads/workload.ts';
import type { Pace } from './pace.ts';

/** What a workload takes at a rate that leaves the server time: the same for every contender. */
export interface Latency {
  /** Milliseconds. */
  readonly p50: Spread;
  /** Milliseconds. */
  readonly p99: Spread;
  /** Microseconds of the server's CPU time each, where it is a process of its own. */
  readonly cpuAtRate?: Spread;
}

/** @param rate times a second */
export async function measureLatencies(
  workload: Workload,
  contenders: ReadonlyMap<string, RunningContender>,
  { latency: { round, rounds } }: Pace,
  rate: number,
): Promise<Map<string, Latency>> {
  const measured = [...contenders].map(([name, { target, pid }]) => ({
    name,
    target,
    pid,
    p50: [] as number[],
    p99: [] as number[],
    cpu: [] as number[],
  }));
  // The first turn opens connections and counts for nothing.
  for (let turn = 0; turn <= rounds; turn += 1) {
    for (const { target, pid, p50, p99, cpu } of measured) {
      const before = pid && cpuTime(pid);
      const took = await openLoop(workload, target, rate, Math.ceil(rate * round));
      if (turn === 0) continue;
      p50.push(percentile(took, 50));
      p99.push(percentile(took, 99));
      if (pid && before) cpu.push((cpuTime(pid) - before) / took.length);
    }
  }
  return new Map(
    measured.map(({ name, p50, p99, cpu }) => [
      name,
      {
        p50: spread(p50),
        p99: spread(p99),
        ...(cpu.length > 0 && { cpuAtRate: spread(cpu) }),
      },
    ]),
  );
}
