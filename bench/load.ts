import type { Target, Visitor, Workload } from './workloads.ts';

const visitorsAtOnce = 16;

/**
 * Has 16 visitors do the workload side by side, each again as soon as it is done.
 *
 * @param more asked before each time whether to go on
 * @returns how many times it was done
 */
export async function closedLoop(
  workload: Workload,
  target: Target,
  more: () => boolean,
): Promise<number> {
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
 * Does the workload at a fixed rate, whether or not what came before is done: if answers are slow, more
 * visitors come.
 *
 * @param rate times a second
 * @returns how long each took, in milliseconds
 */
export async function openLoop(
  workload: Workload,
  target: Target,
  rate: number,
  seconds: number,
): Promise<number[]> {
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

/** For so many seconds from now. */
export function during(seconds: number): () => boolean {
  const end = performance.now() + seconds * 1000;
  return () => performance.now() < end;
}

function enter(workload: Workload, target: Target, count: number): Promise<Visitor[]> {
  return Promise.all(Array.from({ length: count }, () => workload(target)));
}
