import type { RunningContender } from '../contenders/contender.ts';
import { openLoop } from '../load/open-loop.ts';
import { percentile, type Spread, spread } from '../statistics.ts';
import type { Workload } from '../workloads/workload.ts';
import type { Pace } from './pace.ts';

/** How long a workload takes, in milliseconds, at a rate that leaves the server time. */
export interface Latency {
  readonly p50: Spread;
  readonly p99: Spread;
}

/** @param rate times a second */
export async function measureLatencies(
  workload: Workload,
  contenders: ReadonlyMap<string, RunningContender>,
  { latency: { round, rounds } }: Pace,
  rate: number,
): Promise<Map<string, Latency>> {
  const measured = [...contenders].map(([name, { target }]) => ({
    name,
    target,
    p50: [] as number[],
    p99: [] as number[],
  }));
  // The first turn opens connections and counts for nothing.
  for (let turn = 0; turn <= rounds; turn += 1) {
    for (const { target, p50, p99 } of measured) {
      const took = await openLoop(workload, target, rate, Math.ceil(rate * round));
      if (turn === 0) continue;
      p50.push(percentile(took, 50));
      p99.push(percentile(took, 99));
    }
  }
  return new Map(
    measured.map(({ name, p50, p99 }) => [name, { p50: spread(p50), p99: spread(p99) }]),
  );
}
