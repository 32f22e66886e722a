import * as v from 'valibot';
import { secondsOf } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { createHighest, type Home } from '../memory/home.ts';
import { kinds } from '../memory/kinds.ts';
import { times } from '../times.ts';

/** The position of a refresh token in the sequence of its login. */
export const generationSchema = v.object({
  number: v.number(),
  since: v.number(),
});

export type Generation = Readonly<v.InferOutput<typeof generationSchema>>;

const grace = times.refreshGrace;
/**
 * Seconds before a new refresh token is replaced. With half of the grace, at most two replaced tokens of a login still
 * work.
 */
const youth = grace / 2;
/**
 * Stands for the newest number after the end of a login. It is higher than all numbers, so no refresh token works any
 * more.
 */
const endOfLogin = Number.MAX_SAFE_INTEGER;

/**
 * Finds a refresh token that is used twice. Those that are bound to no key are replaced at a refresh; after a theft,
 * either the thief or the owner uses a replaced one. It remembers the newest generation of at most 16,384 logins. If one is forgotten, for example by a
 * restart, all refresh tokens of the login work until the relay sees a newer one.
 *
 * @see RFC 9700 §4.14.2
 */
export function createGenerations(home: Home) {
  /** For each login: the newest number, when that began, and when the one before began. */
  const known = createHighest(home, kinds.generations);
  const now = () => secondsOf(home.now);
  return {
    /**
     * Requires that a generation is the newest of its login, or was replaced less than a minute ago, and returns the
     * newest.
     *
     * @throws {RelayError} `refresh_reused`, or `grant_invalid` if the login has ended
     */
    async requireNewest(login: string, given: Generation): Promise<Generation> {
      const [number = 0, since = 0, previousSince = 0] = (await known.get(login)) ?? [];
      if (number === endOfLogin) throw new RelayError('grant_invalid');
      if (given.number >= number) return given;
      const isOlder = given.number < number - 2;
      const replacedAt = given.number === number - 1 ? since : previousSince;
      if (isOlder || now() - replacedAt >= grace) throw new RelayError('refresh_reused');
      return { number, since };
    },
    /**
     * The generation of the next refresh token: the next number, or the given generation while that is younger than 30
     * seconds.
     *
     * @param lifetime milliseconds until the last refresh token of the login expires
     * @throws {RelayError} `grant_invalid` if the login has ended
     */
    async rotate(login: string, given: Generation, lifetime: number): Promise<Generation> {
      if (now() - given.since < youth) return given;
      const next = { number: given.number + 1, since: now() };
      // Requests at the same time get the same number. A slower one gets a number that is still in its grace.
      const [number] = await known.raise(login, [next.number, next.since, given.since], lifetime);
      if (number === endOfLogin) throw new RelayError('grant_invalid');
      return next;
    },
    /** Ends a login, with all its refresh tokens. @param lifetime as in `rotate` */
    async end(login: string, lifetime: number): Promise<void> {
      await known.raise(login, [endOfLogin], lifetime);
    },
  };
}
