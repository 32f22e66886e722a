import { randomBytes } from 'node:crypto';
import { RelayError } from '../errors.ts';
import { createMarks, type Home } from '../memory/home.ts';
import { createLasting, keyOf } from '../recent.ts';

/** Milliseconds for which a replaced refresh token is still good: its client may not have got the next one. */
const grace = 60_000;
const most = 16_384;
/** Generations that are looked for after a replaced one. */
const mostSteps = 60;

/** The place of a refresh token among those of its login. */
interface Generation {
  readonly login: string;
  readonly number: number;
}

/** The place of the first refresh token of a login. */
export function firstGeneration(): Generation {
  return { login: randomBytes(16).toString('base64url'), number: 0 };
}

/**
 * Replaces refresh tokens that are bound to no key: a copy that is older than the last one is refused, even if the provider
 * would take it. Remembers 16,384 logins at most; the refresh tokens of one that is forgotten are good again.
 *
 * @see RFC 9700 §4.14.2
 */
export function createGenerations(home: Home) {
  /** The numbers of the last ones, by login: a login that is refreshed often displaces no other. */
  const lasts = createLasting<number>(most, home.now);
  const replaced = createMarks(home, 'g', most);
  const recent = createMarks(home, 'h', most);
  const key = ({ login, number }: Generation) => keyOf(login, `${number}`);
  const isReplaced = async (generation: Generation): Promise<boolean> =>
    generation.number < (lasts.get(generation.login) ?? 0) ||
    (await replaced.isMarked(key(generation)));
  return {
    /**
     * The last generation that follows from one, if that is the last one or was replaced less than a minute ago.
     *
     * @throws {RelayError} `grant_invalid`
     */
    async last(given: Generation): Promise<Generation> {
      if (!(await isReplaced(given))) return given;
      if (!(await recent.isMarked(key(given)))) throw new RelayError('grant_invalid');
      let last = given;
      for (let step = 0; step < mostSteps && (await isReplaced(last)); step += 1) {
        last = { ...last, number: last.number + 1 };
      }
      return last;
    },
    /**
     * Replaces a generation by the next one.
     *
     * @param lifetime milliseconds that the refresh tokens of its login have left at most
     */
    async replace(generation: Generation, lifetime: number): Promise<Generation> {
      const { login, number } = generation;
      await recent.mark(key(generation), grace);
      lasts.set(login, Math.max(number + 1, lasts.get(login) ?? 0), lifetime);
      await replaced.mark(key(generation), lifetime);
      return { login, number: number + 1 };
    },
  };
}
