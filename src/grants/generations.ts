import * as v from 'valibot';
import { secondsOf } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { createHighest, type Home } from '../memory/home.ts';
import { kinds } from '../memory/kinds.ts';

/** The place of a refresh token among all those of its login. */
export const generationSchema = v.object({
  /** How many refresh tokens the login had before. */
  number: v.number(),
  /** When it was issued, in seconds since 1970. */
  since: v.number(),
});

export type Generation = Readonly<v.InferOutput<typeof generationSchema>>;

/** Seconds for which a replaced refresh token is still good: its client may not have got the next one. */
const grace = 60;
/** Seconds for which a new refresh token is not replaced: so at most two replaced ones of a login are in their grace. */
const youth = grace / 2;
/** In place of the newest number, after the end of a login: higher than all, so none of its refresh tokens is good. */
const endOfLogin = Number.MAX_SAFE_INTEGER;

/**
 * Rotates refresh tokens that are bound to no key: a thief who uses a replaced one is noticed. Remembers the newest
 * generation of 16,384 logins at most. If that is forgotten, for example by a restart, all refresh tokens of the login
 * are good until the relay replaces a newer one.
 *
 * @see RFC 9700 §4.14.2
 */
export function createGenerations(home: Home) {
  /** Of each login: the newest number, since when it is the newest, and since when the one before was. */
  const known = createHighest(home, kinds.generations);
  const now = () => secondsOf(home.now);
  return {
    /**
     * The newest generation of a login, if the given one is still good: it is the newest itself, or was replaced less
     * than a minute ago.
     *
     * @throws {RelayError} `refresh_reused`, or `grant_invalid` if the login has ended
     */
    async requireNewest(login: string, given: Generation): Promise<Generation> {
      const [number = 0, since = 0, previousSince = 0] = (await known.get(login)) ?? [];
      if (number === endOfLogin) throw new RelayError('grant_invalid');
      if (given.number >= number) return given;
      const isOlder = given.number < number - 2;
      // A generation is replaced when the next one begins.
      const replacedAt = given.number === number - 1 ? since : previousSince;
      if (isOlder || now() - replacedAt >= grace) throw new RelayError('refresh_reused');
      return { number, since };
    },
    /**
     * The generation of the refresh token that a refresh issues: the next one, or the given one while it is younger than
     * 30 seconds.
     *
     * @param lifetime milliseconds that the refresh tokens of the login have left at most
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
    /** Ends a login: none of its refresh tokens is good any more. @param lifetime as of `rotate` */
    async end(login: string, lifetime: number): Promise<void> {
      await known.raise(login, [endOfLogin], lifetime);
    },
  };
}
