import type { Target, User, Workload } from '../workloads/workload.ts';

const firstUsers = 32;

/**
 * Does the workload at a fixed rate, whether or not what came before is done: where answers are
 * slow, more users come.
 *
 * @param rate times a second
 * @returns how long each took, in milliseconds
 */
export async function openLoop(
  workload: Workload,
  target: Target,
  rate: number,
  times: number,
): Promise<number[]> {
  const enter = () => workload.user(target);
  const everyone: User[] = await Promise.all(Array.from({ length: firstUsers }, enter));
  const idle = [...everyone];
  const durations: number[] = [];
  const act = async () => {
    let user = idle.pop();
    if (user === undefined) {
      user = await enter();
      everyone.push(user);
    }
    const start = performance.now();
    await user.act();
    durations.push(performance.now() - start);
    idle.push(user);
  };
  const acts: Promise<void>[] = [];
  const start = performance.now();
  try {
    while (acts.length < times) {
      const due = Math.min(times, ((performance.now() - start) * rate) / 1000);
      while (acts.length < due) acts.push(act());
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await Promise.all(acts);
  } finally {
    for (const user of everyone) user.leave();
  }
  return durations;
}
