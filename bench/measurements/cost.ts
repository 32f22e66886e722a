import type { RunningContender } from '../contenders/contender.ts';
import { cpuTime, residentMemory } from '../contenders/process-figures.ts';
import { closedLoop, during } from '../load/closed-loop.ts';
import { type Spread, spread } from '../statistics.ts';
import type { Workload } from '../workloads/workload.ts';
import type { Pace } from './pace.ts';

const users = 16;

/** What it costs to do a workload once. */
export interface Cost {
  /** Microseconds of the server's CPU time, user and system. */
  readonly cpu: Spread;
  /** Times a second, on one core. */
  readonly throughput: Spread;
  /** MiB that the server holds afterwards. */
  readonly memory: number;
}

/** Warms the contenders up and measures them in turn, several rounds. */
export async function measureCosts(
  workload: Workload,
  contenders: ReadonlyMap<string, RunningContender>,
  { warmUp, cost }: Pace,
): Promise<Map<string, Cost>> {
  const measured = [...contenders].flatMap(([name, { target, pid }]) =>
    pid === undefined ? [] : [{ name, target, pid, cpu: [] as number[], rate: [] as number[] }],
  );
  // With pauses as well: in one of them V8 throws compiled code away, once.
  for (let turn = 0; turn < warmUp.rounds; turn += 1) {
    for (const { target } of measured) {
      await closedLoop(workload, target, users, during(warmUp.round));
    }
  }
  for (let turn = 0; turn < cost.rounds; turn += 1) {
    for (const { target, pid, cpu, rate } of measured) {
      const start = performance.now();
      const before = cpuTime(pid);
      const done = await closedLoop(workload, target, users, during(cost.round));
      cpu.push((cpuTime(pid) - before) / done);
      rate.push((done * 1000) / (performance.now() - start));
    }
  }
  return new Map(
    measured.map(({ name, pid, cpu, rate }) => [
      name,
      { cpu: spread(cpu), throughput: spread(rate), memory: residentMemory(pid) },
    ]),
  );
}
