import { RelayError } from '../failures/relay-error.ts';
import { createMarks, type Home } from '../memory/home.ts';
import { kinds } from '../memory/kinds.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { createCount } from './limit-per-grant.ts';
import { aged } from './refresh-results.ts';

const { letter, most: mostKept } = kinds.keptAnswers;
const { lifetime: redeemedTime } = kinds.redeemedCodes;
/** Redemptions of one code: a client that gets no answer repeats its own. */
const mostAttempts = 120;

export interface Redemption {
  readonly key: string;
  /** The hash of the whole login, its client, and the proved key: a kept answer is only for the same ones. */
  readonly binding: string;
  /** Whose answers make room first: if too many are kept, the client with most of them loses its oldest one. */
  readonly client: string;
  /** Milliseconds until the code expires. */
  readonly left: number;
  /** Revokes tokens that the front end never fetched. */
  revoke(tokens: TokenResponse): void;
}

interface Answer {
  readonly response: TokenResponse;
  readonly at: number;
}

interface Kept extends Answer, Pick<Redemption, 'binding' | 'client' | 'revoke'> {
  readonly timer: NodeJS.Timeout;
}

/** The key of the oldest answer of the client with most answers, so that no client pushes out those of all others. */
function findExcess(kept: ReadonlyMap<string, Kept>): string | undefined {
  let largest: [key: string, one: Kept][] = [];
  for (const ofClient of Map.groupBy(kept, ([, { client }]) => client).values()) {
    if (ofClient.length > largest.length) largest = ofClient;
  }
  return largest[0]?.[0];
}

/**
 * Redeems each code once, because a second exchange of the provider's code could make the provider revoke the first
 * tokens. If the front end gets no answer, for example because the provider could not say who the person is, the relay
 * keeps the provider's answer until the code expires, for the same redemption again. Answers that are never fetched are
 * revoked.
 *
 * It remembers the last 16,384 codes, and at most 4096 answers. If an older code is repeated, the provider refuses it.
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

  /** Revokes an answer that nobody has fetched. */
  async function expire(key: string): Promise<void> {
    const kept = drop(key);
    // Another relay may have handed the answer over, or be about to. Without the shared memory, that cannot be ruled
    // out, so the tokens stay.
    const isMine = await redeemed.mark(key, redeemedTime);
    if (isMine && !shared?.isAway()) kept?.revoke(kept.response);
  }

  async function keep(redemption: Redemption, { response, at }: Answer): Promise<void> {
    const { key, binding, client, left, revoke } = redemption;
    if (left <= 0) {
      revoke(response);
      return;
    }
    const timer = setTimeout(() => void expire(key), left).unref();
    keptHere.set(key, { response, at, binding, client, revoke, timer });
    const excess = keptHere.size > mostKept ? findExcess(keptHere) : undefined;
    if (excess !== undefined) await expire(excess);
    const outcome = { response: aged({ response, at }, now()), heldFor: binding };
    // Leave the answer before taking the mark back: a relay that finds neither would send the provider's code again.
    await shared?.leave(letter, key, outcome, Math.ceil(left));
    await redeemed.unmark(key, redeemedTime);
  }

  async function findElsewhere(key: string) {
    const found = await shared?.peek(letter, key);
    if (found === undefined || found === 'locked') return undefined;
    const { response, heldFor } = found.outcome;
    return response && { response, binding: heldFor, at: now() - found.age };
  }

  /**
   * The kept answer of an earlier attempt. @throws {RelayError} `code_redeemed` if that was another redemption of the
   * code
   */
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
    /** Spends the provider's code with this key: no redemption gets anything for it any more. */
    async spend(key: string): Promise<void> {
      await redeemed.mark(key, redeemedTime);
    },
    /**
     * Redeems a code.
     *
     * @param exchange returns the kept answer, or gets one from the provider. It calls `spend` once the provider's code
     *   must not be sent again
     * @param use grants the answer to the front end. If it fails for now, it calls `giveBack`, which keeps the answer
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
