import { randomBytes } from 'node:crypto';
import { type Command, writeCommand } from './backlog.ts';
import { createExpiringMap } from './expiring-map.ts';
import type { Home } from './home.ts';
import { hashSharedName, type Kind } from './kinds.ts';
import { replaceCommand } from './outcomes.ts';
import { memoryAway } from './shared-memory.ts';

/** The reply of PTTL if there is no key. It is -1 if a key never ends. */
const missingKey = -2;

const newMark = () => randomBytes(9).toString('base64url');

/**
 * Deletes a mark if it still has this value. The command replaces the value by an empty one, which ends after a
 * millisecond.
 */
const deleteIfOwn = (name: string, value: string): Command => replaceCommand(name, value, '', 1);

export type Marks = ReturnType<typeof createMarks>;

/**
 * Remembers keys that were marked, each for its lifetime.
 *
 * @param options.isKept whether each process that knows a mark sets it again after the server has lost it. For that, a
 *   process also remembers the marks of others about which it asks
 * @param options.areTakenBack whether a mark can be removed again. Then a process does not remember the mark of another
 *   that keeps it from setting its own
 */
export function createMarks(
  { now, shared }: Home,
  { letter, most }: Kind,
  { isKept = true, areTakenBack = false } = {},
) {
  /** Each mark has a random value, so that a process only takes back its own marks. */
  const marks = createExpiringMap<string>(most, now);
  const isMarkedHere = (key: string): boolean => marks.get(key) !== undefined;
  const markCommand = (key: string, value: string, lifetime: number, ...more: string[]): Command => ({
    words: ['SET', hashSharedName(letter, key), value, ...more, 'PX'],
    lifetime,
  });
  if (isKept) shared?.onReturn(() => marks.all().map(({ key, value, left }) => markCommand(key, value, left)));
  return {
    /** Whether this process knows a mark of a key. It does not ask the server. */
    isMarkedHere,
    /**
     * Whether a key is marked. If marks are kept (`isKept`), this process then remembers the mark.
     *
     * @param isStrict whether to throw `memory_away` if the server does not answer, because it may have a mark that
     *   this process does not know
     */
    async isMarked(key: string, isStrict = false): Promise<boolean> {
      if (shared === undefined || isMarkedHere(key)) return isMarkedHere(key);
      const answer = await shared.run(['PTTL', hashSharedName(letter, key)]);
      if (answer === undefined && isStrict) throw memoryAway();
      const left = Number(answer?.reply ?? missingKey);
      // The value is new, so that `deleteIfOwn` of this process does not delete the mark of another.
      if (isKept && left > 0) marks.set(key, newMark(), left);
      // This process may have marked the key meanwhile.
      return left > missingKey || isMarkedHere(key);
    },
    /**
     * Marks a key.
     *
     * @param lifetime milliseconds
     * @param group if the map is full, the largest group loses its oldest mark
     * @returns whether the key was not marked before
     */
    async mark(key: string, lifetime: number, group?: string): Promise<boolean> {
      if (isMarkedHere(key)) return false;
      const value = newMark();
      marks.set(key, value, lifetime, group);
      const answer = await shared?.run(writeCommand(markCommand(key, value, lifetime, 'NX')));
      // NX answers null if another process has marked the key. Without an answer, this process decides.
      const isMarkedByOther = answer?.reply === null;
      if (!isMarkedByOther) return true;
      // The other process may take its mark back, and this process would not learn of that. A mark that is never taken
      // back stays here, to ask the server less often.
      if (areTakenBack) marks.delete(key);
      return false;
    },
    /** Takes back a mark that this process set. @param left milliseconds until it would end anyway, at most */
    async unmark(key: string, left: number): Promise<void> {
      const value = marks.get(key);
      marks.delete(key);
      if (value === undefined) return;
      const name = hashSharedName(letter, key);
      await shared?.runOrOwe(name, deleteIfOwn(name, value), left);
    },
  };
}

/**
 * Creates a function that does the work of a key only once.
 *
 * @param onRepeated called in place of the work if it was begun before
 */
export function createOnce<Again>(home: Home, kind: Kind & { readonly lifetime: number }, onRepeated: () => Again) {
  const begun = createMarks(home, kind, { areTakenBack: true });
  return {
    isBegunHere: begun.isMarkedHere,
    /** @param work calls `noteSent` as soon as it must not be repeated. If `work` fails earlier, it can be run again */
    async run<Result>(key: string, work: (noteSent: () => void) => Promise<Result>): Promise<Result | Again> {
      if (!(await begun.mark(key, kind.lifetime))) return onRepeated();
      let isSpent = false;
      try {
        return await work(() => {
          isSpent = true;
        });
      } catch (error) {
        if (!isSpent) await begun.unmark(key, kind.lifetime);
        throw error;
      }
    },
  };
}
