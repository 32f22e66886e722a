import type { Target, User, Workload } from '../workloads/workload.ts';

/**
 * Has so many users do the workload side by side, each again as soon as it is done.
 *
 * @param more asked before each time whether to go on
 * @returns how many times it was done
 */
export async function closedLoop(
  workload: Workload,
  target: Target,
  users: number,
  more: () => boolean,
): Promise<number> {
  const all = await Promise.all(Array.from({ length: users }, () => workload.user(target)));
  let done = 0;
  const work = async (user: User) => {
    while (more()) {
      await user.act();
      done += 1;
    }
  };
  try {
    await Promise.all(all.map(work));
  } finally {
    for (const user of all) user.leave();
  }
  return done;
}

/** For so many seconds from now. */
export function during(seconds: number): () => boolean {
  const end = performance.now() + seconds * 1000;
  return () => performance.now() < end;
}

/** So many times. */
export function times(count: number): () => boolean {
  let left = count;
  return () => left-- > 0;
}
