import { RelayError } from '../failures/relay-error.ts';
import type { Home } from '../memory/home.ts';
import { kinds } from '../memory/kinds.ts';
import { createMarks } from '../memory/marks.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { limitPerGrant } from './limit-per-grant.ts';
import { reduceLifetimes } from './refresh-results.ts';

const { letter, most: mostKept } = kinds.keptAnswers;
const { lifetime: redeemedTime } = kinds.redeemedCodes;
/** The most redemptions of one code. A client that got no answer repeats its redemption. */
const mostAttempts = 120;

/** A request of a front end to redeem a code. */
export interface Redemption {
  /** Identifies the provider's code, by a hash. */
  readonly key: string;
  /** A hash of the whole login, its client, and the proved key. A kept answer is only given to the same binding. */
  readonly binding: string;
  /**
   * The client of the front end. If too many answers are kept, the client with most answers loses its oldest answer.
   */
  readonly client: string;
  /** Milliseconds until the code expires. */
  readonly left: number;
  /** Revokes tokens that the front end never fetched. */
  revoke(tokens: TokenResponse): void;
}

/** The provider's answer, with its time in milliseconds since 1970. */
interface Answer {
  readonly response: TokenResponse;
  readonly at: number;
}

/**
 * Gets the answer for a redemption: by `takeKept`, or else from the provider.
 *
 * @param noteSent called as soon as the provider may have got its code, which then must not be sent again
 */
export type Exchange = (takeKept: () => Promise<Answer | undefined>, noteSent: () => void) => Promise<Answer>;

interface Kept extends Answer, Pick<Redemption, 'binding' | 'client' | 'revoke'> {
  readonly timer: NodeJS.Timeout;
}

/** Finds the oldest answer of the client with most answers, so that one client cannot push out the answers of others. */
function findKeyToEvict(kept: ReadonlyMap<string, Kept>): string | undefined {
  let largest: [key: string, answer: Kept][] = [];
  for (const answersOfClient of Map.groupBy(kept, ([, { client }]) => client).values()) {
    if (answersOfClient.length > largest.length) largest = answersOfClient;
  }
  // Maps keep the order of insertion, so the first answer is the oldest.
  const [oldestKey] = largest[0] ?? [];
  return oldestKey;
}

/**
 * Redeems each code once, because a second exchange of the provider's code could make the provider revoke the first
 * tokens.
 *
 * If the front end gets no answer, for example because the provider could not say who the person is, the relay keeps
 * the provider's answer until the code expires, and gives it to a repetition of the same redemption. The tokens of an
 * answer that is never fetched are revoked.
 *
 * It remembers the last 16,384 codes, and at most 4096 answers. If an older code is repeated, the provider refuses it.
 *
 * @see RFC 6749 §4.1.2
 */
export function createRedemptions(home: Home) {
  const { now, shared } = home;
  const redeemed = createMarks(home, kinds.redeemedCodes, { areTakenBack: true });
  const keptHere = new Map<string, Kept>();

  /** Takes a kept answer out of the memory of this process. */
  function removeKept(key: string): Kept | undefined {
    const kept = keptHere.get(key);
    clearTimeout(kept?.timer);
    keptHere.delete(key);
    return kept;
  }

  /** Drops a kept answer whose time is over or whose place is needed, and revokes its tokens unless it was fetched. */
  async function expire(key: string): Promise<void> {
    const kept = removeKept(key);
    // `mark` returns false if another relay has given the answer to the front end, or is about to. While the shared
    // memory is away, this relay cannot know, so it revokes nothing.
    const isUnfetched = await redeemed.mark(key, redeemedTime);
    if (isUnfetched && !shared?.isAway()) kept?.revoke(kept.response);
  }

  /**
   * Keeps an answer, here and for the other relays, and takes back the mark that the code is redeemed, so that the
   * redemption can be repeated.
   */
  async function keep(redemption: Redemption, { response, at }: Answer): Promise<void> {
    const { key, binding, client, left, revoke } = redemption;
    if (left <= 0) {
      revoke(response);
      return;
    }
    const timer = setTimeout(() => void expire(key), left).unref();
    keptHere.set(key, { response, at, binding, client, revoke, timer });
    const evicted = keptHere.size > mostKept ? findKeyToEvict(keptHere) : undefined;
    if (evicted !== undefined) await expire(evicted);
    const outcome = { response: reduceLifetimes({ response, at }, now()), heldFor: binding };
    // In this order, because a relay that finds neither answer nor mark would send the provider's code again.
    await shared?.leave(letter, key, outcome, Math.ceil(left));
    await redeemed.unmark(key, redeemedTime);
  }

  /** The answer that another relay keeps. */
  async function findAtOthers(key: string) {
    const found = await shared?.peek(letter, key);
    if (found === undefined || found === 'locked') return undefined;
    const { response, heldFor } = found.outcome;
    return response && { response, binding: heldFor, at: now() - found.age };
  }

  /**
   * Takes the kept answer of an earlier attempt, so that it is given once.
   *
   * @throws {RelayError} `code_redeemed` if the answer belongs to another redemption of the code
   */
  async function takeKept({ key, binding }: Redemption): Promise<Answer | undefined> {
    const kept = keptHere.get(key) ?? (await findAtOthers(key));
    if (kept === undefined) return undefined;
    if (kept.binding !== binding) throw new RelayError('code_redeemed');
    removeKept(key);
    await shared?.forget(letter, key, redeemedTime);
    return kept;
  }

  return {
    /** Counts a redemption of a code, by its key. @throws {RelayError} `rate_limited` */
    count: limitPerGrant(mostAttempts, 'This code was sent too often. Start the login again.', now),
    /** Spends a code, so that no redemption gets anything for it. */
    async spend(key: string): Promise<void> {
      await redeemed.mark(key, redeemedTime);
    },
    /**
     * Redeems a code.
     *
     * @param grant grants the answer to the front end. It calls `keepAnswer` to keep the answer, if the front end may
     *   repeat the redemption
     * @throws {RelayError} `code_redeemed`, or why `exchange` or `grant` failed
     */
    async redeem<Result>(
      redemption: Redemption,
      exchange: Exchange,
      grant: (response: TokenResponse, keepAnswer: () => Promise<void>) => Promise<Result>,
    ): Promise<Result> {
      const { key } = redemption;
      if (!(await redeemed.mark(key, redeemedTime))) throw new RelayError('code_redeemed');
      let mayBeSent = false;
      const noteSent = () => {
        mayBeSent = true;
      };
      const answer = await exchange(() => takeKept(redemption), noteSent).catch(async (error: unknown) => {
        if (!mayBeSent) await redeemed.unmark(key, redeemedTime);
        throw error;
      });
      return await grant(reduceLifetimes(answer, now()), () => keep(redemption, answer));
    },
  };
}
