import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { type Command, wordsOf } from './backlog.ts';
import { type Counted, counterName, hashSharedName, type Kind } from './kinds.ts';
import { replaceCommand } from './outcomes.ts';
import { createLasting } from './recent.ts';
import { type Found, memoryAway, type SharedCall, type SharedMemory } from './shared.ts';

/** Where a relay remembers earlier requests: in its process, and in a server that relays share, if there is one. */
export interface Home {
  readonly now: Clock;
  readonly shared?: SharedMemory | undefined;
}

/** PTTL: -2 if there is no key, -1 if it never ends. */
const notThere = -2;

const newMark = () => randomBytes(9).toString('base64url');

/** Deletes a mark if it still has its value: the empty one that replaces it ends after a millisecond. */
const deleteIfOwn = (name: string, value: string): Command => replaceCommand(name, value, '', 1);

export type Marks = ReturnType<typeof createMarks>;

/**
 * Remembers keys that were seen, each for its lifetime.
 *
 * @param how.isKept whether each process that knows a mark sets it again after the server lost it
 * @param how.areTakenBack whether marks can be taken back, so that each process has to ask the server about marks of
 *   others again
 */
export function createMarks(
  { now, shared }: Home,
  { letter, most }: Kind,
  { isKept = true, areTakenBack = false } = {},
) {
  /** Each mark has a random value, so that a process only takes back its own. */
  const marks = createLasting<string>(most, now);
  const isMarkedHere = (key: string): boolean => marks.get(key) !== undefined;
  const markCommand = (key: string, value: string, lifetime: number, ...more: string[]): Command => ({
    words: ['SET', hashSharedName(letter, key), value, ...more, 'PX'],
    lifetime,
  });
  if (isKept) shared?.onReturn(() => marks.all().map(({ key, value, left }) => markCommand(key, value, left)));
  return {
    isMarkedHere,
    /**
     * @param isStrict throws `memory_away` if the server does not answer, because it may have a mark that this process
     *   does not know
     */
    async isMarked(key: string, isStrict = false): Promise<boolean> {
      if (shared === undefined || isMarkedHere(key)) return isMarkedHere(key);
      const answer = await shared.run(['PTTL', hashSharedName(letter, key)]);
      if (answer === undefined && isStrict) throw memoryAway();
      const left = Number(answer?.reply ?? notThere);
      if (isKept && left > 0) marks.set(key, newMark(), left);
      // This process may have marked the key meanwhile.
      return left > notThere || isMarkedHere(key);
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
      const answer = await shared?.run(wordsOf(markCommand(key, value, lifetime, 'NX')));
      // NX answers null if another process has marked the key. Without an answer, this process decides.
      const isMarkedByOther = answer?.reply === null;
      if (!isMarkedByOther) return true;
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

/** Sets a list unless the present one has a higher first number. Returns the list that is there afterwards. */
const raise =
  "local v=redis.call('GET',KEYS[1]) if v and (tonumber(string.match(v,'^%d+')) or 0)>tonumber(ARGV[2]) then return v end redis.call('SET',KEYS[1],ARGV[1],'PX',ARGV[3]) return ARGV[1]";

/**
 * Remembers lists of whole numbers, each for its lifetime. A list replaces another one unless its first number is
 * lower.
 */
export function createHighest({ now, shared }: Home, { letter, most }: Kind) {
  type List = readonly number[];
  const lists = createLasting<List>(most, now);
  const raiseCommand = (key: string, list: List, lifetime: number): Command => ({
    words: ['EVAL', raise, '1', hashSharedName(letter, key), list.join(' '), `${list[0] ?? 0}`],
    lifetime,
  });
  /** The list with the higher first number; if equal, the second. */
  const higher = (one: List | undefined, other: List | undefined) =>
    (one?.[0] ?? -1) > (other?.[0] ?? -1) ? one : other;
  shared?.onReturn(() => lists.all().map(({ key, value, left }) => raiseCommand(key, value, left)));
  return {
    async get(key: string): Promise<List | undefined> {
      const answer = await shared?.run(['GET', hashSharedName(letter, key)]);
      return higher(lists.get(key), listIn(answer?.reply));
    },
    /** @param lifetime milliseconds @returns the highest list that is known */
    async raise(key: string, list: List, lifetime: number): Promise<List> {
      const here = higher(lists.get(key), list) ?? list;
      lists.set(key, here, lifetime);
      const answer = await shared?.run(wordsOf(raiseCommand(key, here, lifetime)));
      return higher(listIn(answer?.reply), here) ?? here;
    },
  };
}

/** @returns undefined if no relay wrote the reply */
function listIn(reply: unknown): readonly number[] | undefined {
  const isList = typeof reply === 'string' && /^\d{1,16}( \d{1,16})*$/.test(reply);
  return isList ? reply.split(' ').map(Number) : undefined;
}

/** Does the work of a key once. @param again what to do if the work was begun before */
export function createOnce<Again>(home: Home, kind: Kind & { readonly lifetime: number }, again: () => Again) {
  const begun = createMarks(home, kind, { areTakenBack: true });
  return {
    isBegunHere: begun.isMarkedHere,
    /** @param work calls `spend` once it must not be repeated. If it fails earlier, it may be tried again */
    async run<Result>(key: string, work: (spend: () => void) => Promise<Result>): Promise<Result | Again> {
      if (!(await begun.mark(key, kind.lifetime))) return again();
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

/** Does the work of a key once for all callers that come while it is in flight. */
export function createJoint<Result>() {
  const inFlight = new Map<string, Promise<Result>>();
  return (key: string, work: () => Promise<Result>): Promise<Result> => {
    const result = inFlight.get(key) ?? work().finally(() => inFlight.delete(key));
    inFlight.set(key, result);
    return result;
  };
}

/**
 * Makes a call that no other relay makes at the same time, or returns what another relay's call has left. Within one
 * process, callers need {@link createJoint}.
 *
 * @throws {RelayError} `memory_away`, or why the call failed
 */
export async function lead({ shared }: Home, { letter }: Kind, key: string, call: SharedCall): Promise<Found> {
  if (shared !== undefined) return await shared.lead(letter, key, call);
  return { outcome: await call.call(), age: 0, how: 'led' };
}

const mostCounters = 65_536;

/** Counts up, from 0 if the value is not a number. Returns when the count restarts, too. */
const countUp =
  "local n=redis.pcall('INCRBY',KEYS[1],ARGV[1]) if type(n)=='table' then n=tonumber(ARGV[1]) redis.call('SET',KEYS[1],n) end if redis.call('PTTL',KEYS[1])<0 then redis.call('PEXPIRE',KEYS[1],ARGV[2]) end return {n,redis.call('PTTL',KEYS[1])}";

/**
 * Counts by client address. A keyed hash assigns each address to one of 65,536 counters. So memory stays bounded, no
 * counter is evicted, and clients cannot choose whose counter they share.
 */
export function createCounters({ now, shared }: Home, what: Counted) {
  const { lifetime } = what;
  const counters = createLasting<{ count: number; readonly end: number }>(mostCounters, now);
  const ownSeed = randomBytes(16).toString('hex');
  return {
    hashToCounter(address: string): string {
      const seed = shared?.seed() ?? ownSeed;
      return `${hash('sha256', seed + address, 'buffer').readUInt16LE()}`;
    },
    /** @returns the new count, and the milliseconds until it restarts */
    async add(counter: string, by: number): Promise<{ count: number; wait: number }> {
      const known = counters.get(counter);
      const counted = known ?? { count: 0, end: now() + lifetime };
      counted.count += by;
      if (known === undefined && by > 0) counters.set(counter, counted, lifetime);
      const here = { count: counted.count, wait: counted.end - now() };
      const command = ['EVAL', countUp, '1', counterName(what, counter), `${by}`, `${lifetime}`];
      const answer = await shared?.run(command);
      const [count = 0, wait] = Array.isArray(answer?.reply) ? answer.reply.map(Number) : [];
      // A server that lost the counter counts less than this process.
      const areNumbers = Number.isSafeInteger(count) && Number.isSafeInteger(wait);
      return areNumbers && wait !== undefined && count >= here.count ? { count, wait } : here;
    },
  };
}
