import { type Command, writeCommand } from './backlog.ts';
import { createExpiringMap } from './expiring-map.ts';
import type { Home } from './home.ts';
import { hashSharedName, type Kind } from './kinds.ts';

/** Sets a list unless the present list has a higher first number. Returns the list that is there afterwards. */
const raiseScript =
  "local v=redis.call('GET',KEYS[1]) if v and (tonumber(string.match(v,'^%d+')) or 0)>tonumber(ARGV[2]) then return v end redis.call('SET',KEYS[1],ARGV[1],'PX',ARGV[3]) return ARGV[1]";

/**
 * Remembers lists of whole numbers, each for its lifetime, such as the newest generation of a login with its times. A
 * list replaces an earlier list of the same key unless its first number is lower.
 */
export function createHighestLists({ now, shared }: Home, { letter, most }: Kind) {
  type List = readonly number[];
  const lists = createExpiringMap<List>(most, now);
  const raiseCommand = (key: string, list: List, lifetime: number): Command => ({
    words: ['EVAL', raiseScript, '1', hashSharedName(letter, key), list.join(' '), `${list[0] ?? 0}`],
    lifetime,
  });
  /** The list with the higher first number. If the numbers are equal, the second list. */
  const higher = (one: List | undefined, other: List | undefined) =>
    (one?.[0] ?? -1) > (other?.[0] ?? -1) ? one : other;
  shared?.onReturn(() => lists.all().map(({ key, value, left }) => raiseCommand(key, value, left)));
  return {
    /** The highest list that is known. @returns undefined if there is none */
    async get(key: string): Promise<List | undefined> {
      const answer = await shared?.run(['GET', hashSharedName(letter, key)]);
      return higher(lists.get(key), parseList(answer?.reply));
    },
    /**
     * Sets a list unless a higher one is known.
     *
     * @param lifetime milliseconds
     * @returns the highest list that is known
     */
    async raise(key: string, list: List, lifetime: number): Promise<List> {
      const known = higher(lists.get(key), list) ?? list;
      lists.set(key, known, lifetime);
      const answer = await shared?.run(writeCommand(raiseCommand(key, known, lifetime)));
      return higher(parseList(answer?.reply), known) ?? known;
    },
  };
}

/** Parses a list in the server. @returns undefined if no relay can have written it */
function parseList(reply: unknown): readonly number[] | undefined {
  const isList = typeof reply === 'string' && /^\d{1,16}( \d{1,16})*$/.test(reply);
  return isList ? reply.split(' ').map(Number) : undefined;
}
