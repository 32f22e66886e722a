import { randomBytes } from 'node:crypto';
import { RelayError } from '../errors.ts';
import { createMarks, type Home } from '../memory/home.ts';
import { keyOf } from '../recent.ts';

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
 * Replaces refresh tokens that are bound to no key where the provider does not: a copy that is older than the last one is
 * refused. Remembers the last 16,384 at most; one that is forgotten is good again.
 *
 * @see RFC 9700 §4.14.2
 */
export function createGenerations(home: Home) {
  const replaced = createMarks(home, 'g', most);
  const recent = createMarks(home, 'h', most);
  const key = ({ login, number }: Generation) => keyOf(login, `${number}`);
  return {
    /**
     * The last generation that follows from one, if that is the last one or was replaced less than a minute ago.
     *
     * @throws {RelayError} `grant_invalid`
     */
    async last(given: Generation): Promise<Generation> {
      let last = given;
      const next = async () => {
        last = { ...last, number: last.number + 1 };
        return await replaced.isMarked(key(last));
      };
      if (!(await replaced.isMarked(key(given)))) return given;
      if (!(await recent.isMarked(key(given)))) throw new RelayError('grant_invalid');
      for (let step = 0; step < mostSteps && (await next()); step += 1);
      return last;
    },
    /**
     * Replaces a generation by the next one.
     *
     * @param lifetime milliseconds that its refresh token has left
     */
    async replace(generation: Generation, lifetime: number): Promise<Generation> {
      await recent.mark(key(generation), grace);
      await replaced.mark(key(generation), lifetime);
      return { ...generation, number: generation.number + 1 };
    },
  };
}
