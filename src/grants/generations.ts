import * as v from 'valibot';
import { secondsOf } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { createHighest, type Home } from '../memory/home.ts';
import { kinds } from '../memory/kinds.ts';

/** The place of a refresh token among those of its login. */
export const generationSchema = v.object({
  /** How many there were before. */
  number: v.number(),
  /** When it was issued, in seconds since 1970. */
  since: v.number(),
});

export type Generation = Readonly<v.InferOutput<typeof generationSchema>>;

/** Seconds for which a replaced refresh token is still good: its client may not have got the next one. */
const grace = 60;
/** Seconds for which a new one is not replaced: only those of the last two generations can be in their grace. */
const youth = grace / 2;
/** Higher than any number: no refresh token of the login is good. */
const ended = Number.MAX_SAFE_INTEGER;

/**
 * Replaces refresh tokens that are bound to no key. Remembers the last generation of 16,384 logins at most. If one is
 * forgotten, for example by a restart, all refresh tokens of its login are good until one is replaced that is newer.
 *
 * @see RFC 9700 §4.14.2
 */
export function createGenerations(home: Home) {
  /** Of each login: the last number, since when it is the last, and since when the one before was. */
  const lasts = createHighest(home, kinds.generations);
  const now = () => secondsOf(home.now);
  return {
    /**
     * The last generation of a login, for the holder of one that is the last, or was replaced less than a minute ago.
     *
     * @throws {RelayError} `refresh_reused`, or `grant_invalid` if the login has ended
     */
    async last(login: string, given: Generation): Promise<Generation> {
      const [number = 0, since = 0, before = 0] = (await lasts.get(login)) ?? [];
      if (number === ended) throw new RelayError('grant_invalid');
      if (given.number >= number) return given;
      const isOlder = given.number < number - 2;
      const replacedAt = given.number === number - 1 ? since : before;
      if (isOlder || now() - replacedAt >= grace) throw new RelayError('refresh_reused');
      return { number, since };
    },
    /**
     * Replaces a generation by the next one, unless it is younger than 30 seconds.
     *
     * @param lifetime milliseconds that the refresh tokens of the login have left at most
     * @throws {RelayError} `grant_invalid` if the login has ended
     */
    async replace(login: string, given: Generation, lifetime: number): Promise<Generation> {
      if (now() - given.since < youth) return given;
      const next = { number: given.number + 1, since: now() };
      // The highest number stays. A slower request gets the same one, or one that is still in its grace.
      const [number] = await lasts.raise(login, [next.number, next.since, given.since], lifetime);
      if (number === ended) throw new RelayError('grant_invalid');
      return next;
    },
    /** Ends a login: none of its refresh tokens is good any more. @param lifetime as of `replace` */
    async end(login: string, lifetime: number): Promise<void> {
      await lasts.raise(login, [ended], lifetime);
    },
  };
}
