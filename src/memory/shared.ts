import { hash, hkdfSync } from 'node:crypto';
import type { KeyRing } from '../keys.ts';
import type { ServerLink } from './link.ts';
import { createSingle, type Leadership } from './single.ts';

/** Counts up, from nothing if somebody else has written the counter, and says when the count starts anew. */
const countUp =
  "local n=redis.pcall('INCRBY',KEYS[1],ARGV[1]) if type(n)=='table' then n=tonumber(ARGV[1]) redis.call('SET',KEYS[1],n) end if redis.call('PTTL',KEYS[1])<0 then redis.call('PEXPIRE',KEYS[1],ARGV[2]) end return {n,redis.call('PTTL',KEYS[1])}";

/** The memory that relays share, in a server that speaks the Redis protocol. */
export type SharedMemory = ReturnType<typeof createSharedMemory>;

/**
 * A name says nothing of what it stands for, each has an end, and each command has one: a cluster needs no more.
 *
 * @param observe called with each call that relays could have made twice
 */
export function createSharedMemory(link: ServerLink, observe: (how: Leadership) => void) {
  const nameOf = (kind: string, key: string) =>
    `login-relay:1:${kind}:${hash('sha256', key, 'base64url')}`;
  const single = createSingle(link, nameOf, observe);
  let seed = '';

  return {
    isAway: link.isAway,
    close: link.close,
    peek: single.peek,
    lead: single.lead,
    /** Uses the present keys. @param callTime milliseconds that a call takes at most */
    configure(keys: KeyRing, callTime: number): void {
      single.configure(keys, callTime);
      seed = Buffer.from(hkdfSync('sha256', keys[0], '', 'counters', 16)).toString('hex');
    },
    /** What the counters of addresses are chosen with. */
    seed: () => seed,
    /** @returns whether it was not marked; undefined: the server does not answer */
    async mark(kind: string, key: string, lifetime: number): Promise<boolean | undefined> {
      const words = ['SET', nameOf(kind, key), '1', 'NX', 'PX', whole(lifetime)];
      const answer = await link.run(words);
      return answer && answer.reply !== null;
    },
    async unmark(kind: string, key: string): Promise<void> {
      await link.run(['DEL', nameOf(kind, key)]);
    },
    /** @returns undefined if the server does not answer */
    async isMarked(kind: string, key: string): Promise<boolean | undefined> {
      const answer = await link.run(['EXISTS', nameOf(kind, key)]);
      return answer && answer.reply === 1;
    },
    /** Marks keys again when the server comes back. @param marks what is marked, with the milliseconds left */
    keepMarks(kind: string, marks: () => readonly { key: string; left: number }[]): void {
      link.onReturn(() =>
        marks().map(({ key, left }) => ['SET', nameOf(kind, key), '1', 'PX', whole(left)]),
      );
    },
    /** @returns as `add` of counters does; undefined: the server does not answer */
    async count(kind: string, key: string, by: number, lifetime: number) {
      const name = nameOf(kind, key);
      const answer = await link.run(['EVAL', countUp, '1', name, `${by}`, `${lifetime}`]);
      const [count, wait] = Array.isArray(answer?.reply) ? answer.reply.map(Number) : [];
      const areNumbers = Number.isSafeInteger(count) && Number.isSafeInteger(wait);
      return areNumbers && count !== undefined && wait !== undefined ? { count, wait } : undefined;
    },
  };
}

/** Milliseconds, as commands take them. */
function whole(milliseconds: number): string {
  return `${Math.max(1, Math.ceil(milliseconds))}`;
}
