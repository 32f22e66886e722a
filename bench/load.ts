import type { Target, Visitor, Workload } from './workloads.ts';

const visitorsAtOnce = 16;

/**
 * Runs the workload with 16 concurrent visitors, again and again.
 *
 * @param more whether to continue; called before each run
 * @returns the number of runs
 */
export async function closedLoop(workload: Workload, target: Target, more: () => boolean): Promise<number> {
  const visitors = await enter(workload, target, visitorsAtOnce);
  let done = 0;
  await Promise.all(
    visitors.map(async (visitor) => {
      for (; more(); done += 1) await visitor.act();
    }),
  );
  for (const visitor of visitors) visitor.leave();
  return done;
}

/**
 * Runs the workload at a fixed rate, without waiting for earlier runs. If answers are slow, there are more
 * visitors.
 *
 * @param rate times a second
 * @returns the time of each run, in milliseconds
 */
export async function openLoop(workload: Workload, target: Target, rate: number, seconds: number): Promise<number[]> {
  const everyone = await enter(workload, target, 2 * visitorsAtOnce);
  const idle = [...everyone];
  const durations: number[] = [];
  const act = async () => {
    let visitor = idle.pop();
    if (visitor === undefined) {
      visitor = await workload(target);
      everyone.push(visitor);
    }
    const start = performance.now();
    await visitor.act();
    durations.push(performance.now() - start);
    idle.push(visitor);
  };
  const acts: Promise<void>[] = [];
  const times = Math.ceil(rate * seconds);
  const start = performance.now();
  while (acts.length < times) {
    const due = Math.min(times, ((performance.now() - start) * rate) / 1000);
    while (acts.length < due) acts.push(act());
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(acts);
  for (const visitor of everyone) visitor.leave();
  return durations;
}

/** Makes a function that returns true for so many seconds from now. */
export function during(seconds: number): () => boolean {
  const end = performance.now() + seconds * 1000;
  return () => performance.now() < end;
}

function enter(workload: Workload, target: Target, count: number): Promise<Visitor[]> {
  return Promise.all(Array.from({ length: count }, () => workload(target)));
}

/** @param share 0 to 100 */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const index = Math.min(sorted.length - 1, Math.floor((sorted.length * share) / 100));
  return sorted[index] ?? Number.NaN;
}
