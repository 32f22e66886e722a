import { isFailure, RelayError } from '../failures/relay-error.ts';
import { createExpiringSecrets } from '../memory/expiring-map.ts';
import type { Home } from '../memory/home.ts';
import { callOnce } from '../memory/joint-work.ts';
import { kinds } from '../memory/kinds.ts';
import { createMarks } from '../memory/marks.ts';
import type { Outcome } from '../memory/outcomes.ts';
import type { FoundOutcome } from '../memory/shared-memory.ts';
import type { RefreshGrant } from '../oauth/token-request.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import {
  createResults,
  hashRefreshToken,
  type IsGood,
  mostResults,
  type OwnedRefreshToken,
  type RefreshResult,
  reduceLifetimes,
  resultTime,
  uncheckedTime,
} from './refresh-results.ts';
import type { Refreshed } from './refresh-tokens.ts';

const { letter } = kinds.refreshResults;
/** Milliseconds for which an outcome stays that only answers the relays which waited for the call. */
const waitersTime = 1_000;

export interface FrontEndRefresh extends OwnedRefreshToken, RefreshGrant {}

export type CallProvider = (grant: RefreshGrant) => Promise<TokenResponse>;

interface InFlight {
  readonly scope: string | undefined;
  /** Resolves to undefined if another relay has rotated the refresh token. */
  readonly result: Promise<RefreshResult | undefined>;
}

/**
 * Follows the chains of the provider's refresh tokens. A provider that rotates replaces each token by the next, in a
 * call of this relay or of another. `hashRefreshToken` gives the key of a refresh token.
 */
export class RefreshChains {
  readonly results: ReturnType<typeof createResults>;
  readonly #home: Home;
  readonly #inFlight = new Map<string, InFlight>();
  /** Refresh tokens that a logout is about to revoke. No earlier result is repeated for them. */
  readonly #toRevoke: ReturnType<typeof createMarks>;
  /**
   * Refusals of the provider, each repeated for 60 seconds, so that a page that keeps retrying does not use up the
   * token requests that the provider allows the relay. Other errors are not repeated.
   */
  readonly #refusals: ReturnType<typeof createExpiringSecrets<RelayError>>;

  constructor(home: Home) {
    this.#home = home;
    this.results = createResults(home.now);
    this.#toRevoke = createMarks(home, kinds.endedRefreshes);
    this.#refusals = createExpiringSecrets(resultTime, mostResults, home.now);
  }

  /** The newest result for a refresh, either remembered or from a call. @throws {RelayError} why the call failed */
  async findNewestResult(refresh: FrontEndRefresh, call: CallProvider, isGood: IsGood): Promise<RefreshResult> {
    // The key for which the other relays had nothing newer.
    let askedKey: string | undefined;
    for (;;) {
      const { newest: newestToken, key, lastResult, inFlight } = this.#followRotations(refresh);
      if (inFlight !== undefined && inFlight.scope !== refresh.scope) {
        // Wait, because the result may replace the refresh token that this call would send.
        await inFlight.result.catch(() => {});
        continue;
      }
      const remembered = inFlight === undefined ? this.#usableResult(refresh, key, lastResult, isGood) : undefined;
      if (remembered !== undefined) {
        if (this.#home.shared === undefined || askedKey === key) return remembered;
        askedKey = key;
        // If another relay has a newer result, `#callOrTakeResult` takes it without a call. If not, look once more,
        // because this process may have learned a newer one while it asked.
        if (!(await this.#isOlderThanAtOthers(newestToken, key))) continue;
      }
      const result = await (inFlight?.result ?? this.#callOrTakeResult(newestToken, call));
      if (result !== undefined) return result;
      // Another relay has rotated this token. Follow the chain, which is longer now.
    }
  }

  /** The remembered result that answers a refresh without a call, if there is one. */
  #usableResult(
    { scope }: FrontEndRefresh,
    key: string,
    lastResult: RefreshResult | undefined,
    isGood: IsGood,
  ): RefreshResult | undefined {
    const remembered = lastResult ?? this.results.repeatableResult(key, isGood);
    if (remembered?.scope !== scope || this.#toRevoke.isMarkedHere(key)) return undefined;
    return remembered !== undefined && this.results.isUsable(remembered) ? remembered : undefined;
  }

  /**
   * Ends the chain of a refresh token, so that its results are not repeated any more. Waits for a refresh in flight.
   *
   * @returns the newest response; undefined if the token was not rotated, or the rotation is forgotten
   */
  async endAndTakeNewest(token: OwnedRefreshToken): Promise<Refreshed | undefined> {
    for (;;) {
      const { newest, key, lastResult, inFlight } = this.#followRotations(token);
      if (inFlight !== undefined) {
        await inFlight.result.catch(() => {});
        continue;
      }
      await this.#toRevoke.mark(key, resultTime);
      // This makes no call to the provider. It waits for a refresh at another relay, and finds what that rotated.
      const found = await callOnce(this.#home, kinds.refreshResults, key, {
        call: async () => ({}),
        isAnswer: (outcome) => isRotation(outcome, newest.refreshToken),
        // Leaves nothing to other relays, but releases the lock.
        keep: () => ({ lifetime: 1, countsWithoutLock: false }),
      }).catch(() => undefined);
      // `led` means that no other relay had rotated the token. Without the shared memory, this relay decides by what it
      // knows.
      if (found === undefined || found.how === 'led') {
        await this.forgetUnchecked(hashRefreshToken(token));
        return lastResult?.response;
      }
      this.#remember(newest, found);
    }
  }

  /** Gives the other relays a result that has passed its check. They repeat it to pages with the replaced token. */
  async shareChecked(key: string, result: RefreshResult): Promise<void> {
    await this.#home.shared?.leave(letter, key, this.#outcomeOf(result), resultTime);
  }

  /**
   * Gives the other relays a result whose check could not be made. If the next refresh comes to one of them, it only
   * repeats the check, because the provider does not accept the replaced token again.
   */
  async shareUnchecked(key: string, result: RefreshResult): Promise<void> {
    await this.#home.shared?.leave(letter, key, { ...this.#outcomeOf(result), isUnchecked: true }, uncheckedTime);
  }

  #outcomeOf(result: RefreshResult): Outcome {
    return { scope: result.scope, response: reduceLifetimes(result, this.#home.now()) };
  }

  /**
   * Forgets an unchecked result, here and at the other relays, because the person is refused or the login has ended. A
   * result that has passed its check meanwhile stays.
   */
  async forgetUnchecked(key: string): Promise<void> {
    if (this.results.unchecked.get(key) === undefined) return;
    this.results.unchecked.delete(key);
    await this.#home.shared?.forget(letter, key, uncheckedTime);
  }

  /** Follows the rotations from a refresh token to the newest token, or to a token with a call in flight. */
  #followRotations<Token extends OwnedRefreshToken>(first: Token) {
    let newest = first;
    let lastResult: RefreshResult | undefined;
    for (;;) {
      const key = hashRefreshToken(newest);
      const inFlight = this.#inFlight.get(key);
      const result = inFlight === undefined ? this.results.resultFor(key) : undefined;
      lastResult = result ?? lastResult;
      const { refreshToken = newest.refreshToken } = result?.response ?? {};
      if (refreshToken === newest.refreshToken) return { newest, key, lastResult, inFlight };
      newest = { ...first, refreshToken };
    }
  }

  /** Whether another relay has a newer result, or is about to get one. Also learns of a logout at another relay. */
  async #isOlderThanAtOthers({ refreshToken }: OwnedRefreshToken, key: string): Promise<boolean> {
    // If another relay has logged the person out, this call remembers that, so that `#usableResult` repeats no earlier
    // result either.
    await this.#toRevoke.isMarked(key);
    const found = await this.#home.shared?.peek(letter, key);
    return found === 'locked' || (found !== undefined && isFinal(found.outcome, refreshToken));
  }

  /**
   * Calls the provider, or takes the result of another relay's call.
   *
   * @returns undefined if another relay has rotated the refresh token
   */
  async #callOrTakeResult(refresh: FrontEndRefresh, call: CallProvider): Promise<RefreshResult | undefined> {
    const key = hashRefreshToken(refresh);
    const refusal = this.#refusals.get(key);
    if (refusal !== undefined) throw refusal;
    const result = this.#callAndRemember(refresh, key, call).finally(() => this.#inFlight.delete(key));
    this.#inFlight.set(key, { scope: refresh.scope, result });
    return await result;
  }

  async #callAndRemember(
    refresh: FrontEndRefresh,
    key: string,
    call: CallProvider,
  ): Promise<RefreshResult | undefined> {
    const { login, refreshToken, scope } = refresh;
    try {
      const found = await callOnce(this.#home, kinds.refreshResults, key, {
        call: async () => ({ scope, response: await call({ refreshToken, scope }) }),
        // An outcome that is not final only answers relays that waited for the call, as requests in one process share
        // it.
        isAnswer(outcome, hasWaited) {
          const isSame = outcome.response !== undefined && outcome.scope === scope;
          return isFinal(outcome, refreshToken) || (hasWaited && (outcome.failure !== undefined || isSame));
        },
        keep: (outcome) => ({
          lifetime: isFinal(outcome, refreshToken) ? resultTime : waitersTime,
          countsWithoutLock: isRotation(outcome, refreshToken),
        }),
      });
      return this.#remember(refresh, found);
    } catch (error) {
      if (isFailure(error, 'refresh_refused')) {
        this.#refusals.set(key, error, login);
        // Do not repeat the result that the provider gave before it refused.
        this.results.latest.delete(key);
      }
      throw error;
    }
  }

  /**
   * Remembers the outcome of a call: of this relay if `how` is `led`, otherwise of another.
   *
   * @returns undefined if another relay has rotated the refresh token: then `#followRotations` finds the newer token
   * @throws {RelayError} if the call failed
   */
  #remember(token: OwnedRefreshToken, { outcome, age, how }: FoundOutcome): RefreshResult | undefined {
    if (outcome.failure !== undefined) throw new RelayError(outcome.failure);
    // Only the type permits this: each `isAnswer` refuses an outcome with neither a failure nor a response.
    if (outcome.response === undefined) return undefined;
    // No refresh token in the response means that the provider did not rotate it. @see RFC 6749 §6
    const { refreshToken = token.refreshToken } = outcome.response;
    const response = { ...outcome.response, refreshToken };
    const result = { scope: outcome.scope, response, at: this.#home.now() - age };
    this.results.recordRotation(token, result, Math.max(0, resultTime - age));
    if (outcome.isUnchecked) this.results.keepUnchecked(token, result);
    if (how === 'led') this.results.rememberLatest(token, result);
    return how === 'led' || refreshToken === token.refreshToken ? result : undefined;
  }
}

/** Whether a further call with the token is useless, because the provider has refused or replaced the token. */
function isFinal(outcome: Outcome, refreshToken: string): boolean {
  return outcome.failure === 'refresh_refused' || isRotation(outcome, refreshToken);
}

function isRotation({ response }: Outcome, refreshToken: string): boolean {
  return response?.refreshToken !== undefined && response.refreshToken !== refreshToken;
}
