import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { createRecent } from '../recent.ts';

/** Where a relay remembers earlier requests: in its own process. */
export interface Home {
  readonly now: Clock;
}

/** Keys that were seen, each until its time is over. */
export type Marks = ReturnType<typeof createMarks>;

/** @param most keys; beyond it, the oldest one is forgotten */
export function createMarks({ now }: Home, most: number) {
  // Oldest first.
  const ends = new Map<string, number>();
  const isOver = (end: number) => end <= now();

  function isMarkedHere(key: string): boolean {
    const end = ends.get(key);
    return end !== undefined && !isOver(end);
  }

  function forgetOldest(): void {
    for (const [oldest, end] of ends) {
      if (ends.size < most && !isOver(end)) return;
      ends.delete(oldest);
    }
  }

  return {
    /** Whether this process has marked a key. */
    isMarkedHere,
    /** Whether a key is marked. */
    isMarked: async (key: string): Promise<boolean> => isMarkedHere(key),
    /**
     * Marks a key.
     *
     * @param lifetime milliseconds
     * @returns whether it was not marked before
     */
    async mark(key: string, lifetime: number): Promise<boolean> {
      if (isMarkedHere(key)) return false;
      ends.delete(key);
      forgetOldest();
      ends.set(key, now() + lifetime);
      return true;
    },
    /** Forgets a key. */
    async unmark(key: string): Promise<void> {
      ends.delete(key);
    },
  };
}

/**
 * Does work once.
 *
 * @param lifetime milliseconds for which work is remembered
 * @param most works; beyond it, the oldest one is forgotten
 */
export function createOnce(home: Home, lifetime: number, most: number) {
  const begun = createMarks(home, most);
  return {
    /** Whether this process has begun the work of a key. */
    isBegunHere: begun.isMarkedHere,
    /**
     * @param work calls `spend` once it must not be tried again. If it fails earlier, it is forgotten.
     * @param again what happens instead if the work was begun before
     */
    async run<Result>(
      key: string,
      work: (spend: () => void) => Promise<Result>,
      again: () => Result,
    ): Promise<Result> {
      if (!(await begun.mark(key, lifetime))) return again();
      let isSpent = false;
      try {
        return await work(() => {
          isSpent = true;
        });
      } catch (error) {
        if (!isSpent) await begun.unmark(key);
        throw error;
      }
    },
  };
}

/** Gives everybody who asks for a key the result of the work that is in flight for it, or begins the work. */
export function createJoint<Result>() {
  const inFlight = new Map<string, Promise<Result>>();
  return (key: string, work: () => Promise<Result>): Promise<Result> => {
    const result = inFlight.get(key) ?? work().finally(() => inFlight.delete(key));
    inFlight.set(key, result);
    return result;
  };
}

const mostCounters = 65_536;

/**
 * Counts by client address. Every address has one of 65,536 counters by a keyed hash. Memory stays bounded, no counter is evicted, and clients
 * cannot choose with whom they share one.
 *
 * @param seconds after which a counter starts anew
 */
export function createCounters({ now }: Home, seconds: number) {
  const lifetime = seconds * 1000;
  const counters = createRecent<{ count: number; readonly end: number }>(
    lifetime,
    mostCounters,
    now,
  );
  const seed = randomBytes(16).toString('hex');
  return {
    counterOf: (address: string): string =>
      `${hash('sha256', seed + address, 'buffer').readUInt16LE()}`,
    /** @returns the new count, and the milliseconds until the counter starts anew */
    async add(counter: string, by: number): Promise<{ count: number; wait: number }> {
      const known = counters.get(counter);
      const counted = known ?? { count: 0, end: now() + lifetime };
      counted.count += by;
      if (known === undefined && by > 0) counters.set(counter, counted);
      return { count: counted.count, wait: counted.end - now() };
    },
  };
}
