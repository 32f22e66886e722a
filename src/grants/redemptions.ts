import { RelayError } from '../failures/relay-error.ts';
import { createMarks, type Home } from '../memory/home.ts';
import { kinds } from '../memory/kinds.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { createCount } from './count.ts';
import { aged } from './refresh-results.ts';

const { letter, most: mostKept } = kinds.keptAnswers;
const { lifetime: redeemedTime } = kinds.redeemedCodes;
/** Redemptions of one code: a client that gets no answer repeats its own. */
const mostAttempts = 120;

/** The redemption of a code. */
export interface Redemption {
  /** The key of the provider's code. */
  readonly key: string;
  /** The key of the whole login, its client, and the key that the client proves: only they get an answer that was kept. */
  readonly binding: string;
  /** Milliseconds until the code expires. */
  readonly left: number;
  /** Revokes what nobody has fetched. */
  revoke(tokens: TokenResponse): void;
}

interface Answer {
  readonly response: TokenResponse;
  /** When the provider gave it, in milliseconds since 1970. */
  readonly at: number;
}

interface Kept extends Answer, Pick<Redemption, 'binding' | 'revoke'> {
  readonly timer: NodeJS.Timeout;
}

/**
 * The codes that front ends redeem. The provider's code in one is exchanged once, because a second exchange could make the
 * provider revoke the tokens of the first one. If the front end gets no answer, for example because the provider does not
 * say who the person is, the provider's answer is kept until the code expires: the same redemption then gets it. What is
 * not fetched is revoked.
 *
 * Remembers the last 16,384 codes and 4096 answers at most. If an older code is repeated, the provider refuses it.
 *
 * @see RFC 6749 §4.1.2
 */
export function createRedemptions(home: Home) {
  const { now, shared } = home;
  const redeemed = createMarks(home, kinds.redeemedCodes, { areTakenBack: true });
  const keptHere = new Map<string, Kept>();

  function drop(key: string): Kept | undefined {
    const kept = keptHere.get(key);
    clearTimeout(kept?.timer);
    keptHere.delete(key);
    return kept;
  }

  /** Revokes an answer that nobody has fetched, and does not give it to anybody any more. */
  async function expire(key: string): Promise<void> {
    const kept = drop(key);
    // Another relay may have handed it over, or be about to. With the memory away, nobody can tell.
    const isMine = await redeemed.mark(key, redeemedTime);
    if (isMine && !shared?.isAway()) kept?.revoke(kept.response);
  }

  /** Keeps an answer for the same redemption, here or at another relay. */
  async function keep(redemption: Redemption, { response, at }: Answer): Promise<void> {
    const { key, binding, left, revoke } = redemption;
    if (left <= 0) {
      revoke(response);
      return;
    }
    const timer = setTimeout(() => void expire(key), left).unref();
    keptHere.set(key, { response, at, binding, revoke, timer });
    const [oldest] = keptHere.keys();
    if (keptHere.size > mostKept && oldest !== undefined) await expire(oldest);
    const outcome = { response: aged({ response, at }, now()), heldFor: binding };
    // First the answer: a relay that finds neither would send the provider's code again.
    await shared?.leave(letter, key, outcome, Math.ceil(left));
    await redeemed.unmark(key, redeemedTime);
  }

  /** What another relay has kept. */
  async function findElsewhere(key: string) {
    const found = await shared?.peek(letter, key);
    if (found === undefined || found === 'locked') return undefined;
    const { response, heldFor } = found.outcome;
    return response && { response, binding: heldFor, at: now() - found.age };
  }

  /** The answer of an earlier attempt. @throws {RelayError} `code_redeemed` if that was another redemption of the code */
  async function find({ key, binding }: Redemption): Promise<Answer | undefined> {
    const kept = keptHere.get(key) ?? (await findElsewhere(key));
    if (kept === undefined) return undefined;
    if (kept.binding !== binding) throw new RelayError('code_redeemed');
    drop(key);
    await shared?.forget(letter, key, redeemedTime);
    return kept;
  }

  return {
    /** Counts a redemption of a code, by its key. @throws {RelayError} `rate_limited` */
    count: createCount(mostAttempts, 'This code was sent too often. Start the login again.', now),
    /**
     * Redeems a code.
     *
     * @param exchange gets the provider's answer, or what `find` has kept. It calls `spend` once the provider's code must
     *   not be sent again
     * @param use grants the answer to the front end. If that fails for a time, the answer is kept
     * @throws {RelayError} `code_redeemed`, or why `exchange` or `use` failed
     */
    async redeem<Result>(
      redemption: Redemption,
      exchange: (find: () => Promise<Answer | undefined>, spend: () => void) => Promise<Answer>,
      use: (response: TokenResponse, giveBack: () => Promise<void>) => Promise<Result>,
    ): Promise<Result> {
      const { key } = redemption;
      if (!(await redeemed.mark(key, redeemedTime))) throw new RelayError('code_redeemed');
      let isSpent = false;
      const spend = () => {
        isSpent = true;
      };
      const answer = await exchange(() => find(redemption), spend).catch(async (error: unknown) => {
        if (!isSpent) await redeemed.unmark(key, redeemedTime);
        throw error;
      });
      return await use(aged(answer, now()), () => keep(redemption, answer));
    },
  };
}
