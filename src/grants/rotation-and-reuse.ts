import * as v from 'valibot';
import { nowInSeconds } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { createHighestLists } from '../memory/highest-lists.ts';
import type { Home } from '../memory/home.ts';
import { kinds } from '../memory/kinds.ts';
import { times } from '../times.ts';

/** The position of a refresh token in the sequence of its login, and the time of its issue in seconds since 1970. */
export const generationSchema = v.object({
  number: v.number(),
  since: v.number(),
});

export type Generation = Readonly<v.InferOutput<typeof generationSchema>>;

/** Seconds for which a replaced refresh token still works. */
const grace = times.refreshGrace;
/**
 * Seconds for which a new refresh token is not replaced. Since this is half of the grace, at most two replaced tokens
 * of a login still work.
 */
const shortestLife = grace / 2;
/** The number that is remembered after the end of a login. It is higher than all others, so no refresh token works. */
const endOfLogin = Number.MAX_SAFE_INTEGER;

/**
 * Rotates refresh tokens that are bound to no key, and detects the reuse of a replaced token. After a theft, either the
 * thief or the owner sends a replaced token.
 *
 * It remembers the newest generation of at most 16,384 logins. If a generation is forgotten, for example by a restart,
 * all refresh tokens of its login work until the relay sees a newer generation.
 *
 * @see RFC 9700 §4.14.2
 */
export function createGenerations(home: Home) {
  /** For each login: the newest number, the time of its issue, and the time of the issue before. */
  const known = createHighestLists(home, kinds.generations);
  const now = () => nowInSeconds(home.now);
  return {
    /**
     * Requires that refresh tokens of a generation still work: it is the newest of its login, or was replaced less than a
     * minute ago.
     *
     * @returns the newest generation
     * @throws {RelayError} `refresh_reused`, after which the caller has to end the login (`refresh-login.ts`), or
     *   `grant_invalid` if the login has ended
     */
    async requireUsable(login: string, given: Generation): Promise<Generation> {
      const [number = 0, since = 0, previousSince = 0] = (await known.get(login)) ?? [];
      if (number === endOfLogin) throw new RelayError('grant_invalid');
      if (given.number >= number) return given;
      // The token has at least three successors. Each of them was in use for at least half of the grace before it was
      // replaced, so the grace of this token is over.
      const isTooOld = given.number < number - 2;
      const replacedAt = given.number === number - 1 ? since : previousSince;
      if (isTooOld || now() - replacedAt >= grace) throw new RelayError('refresh_reused');
      return { number, since };
    },
    /**
     * Begins the next generation of a login, unless the given one is younger than 30 seconds.
     *
     * @param lifetime milliseconds until the last refresh token of the login expires
     * @returns the generation of the next refresh token
     * @throws {RelayError} `grant_invalid` if the login has ended
     */
    async rotate(login: string, given: Generation, lifetime: number): Promise<Generation> {
      if (now() - given.since < shortestLife) return given;
      const next = { number: given.number + 1, since: now() };
      // Requests at the same time get the same number. It may have been replaced meanwhile, but is still in its grace.
      const [number] = await known.raise(login, [next.number, next.since, given.since], lifetime);
      if (number === endOfLogin) throw new RelayError('grant_invalid');
      return next;
    },
    /** Ends a login, with all its refresh tokens. @param lifetime milliseconds until its last refresh token expires */
    async end(login: string, lifetime: number): Promise<void> {
      await known.raise(login, [endOfLogin], lifetime);
    },
  };
}
