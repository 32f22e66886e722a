import { isFailure, RelayError } from '../failures/relay-error.ts';
import { createMarks, type Home, lead } from '../memory/home.ts';
import { kinds } from '../memory/kinds.ts';
import type { Outcome } from '../memory/outcomes.ts';
import { createRecent } from '../memory/recent.ts';
import type { Found } from '../memory/shared.ts';
import type { RefreshGrant } from '../oauth/token-request.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { createRefreshCount } from './refresh-count.ts';
import {
  aged,
  createResults,
  type IsGood,
  keyOfRefresh,
  mostResults,
  type Refreshed,
  type RefreshResult,
  type RefreshTokenOwner,
  resultTime,
  uncheckedTime,
} from './refresh-results.ts';

const { letter } = kinds.refreshResults;
/** Milliseconds for which the relays that wait find a result that nobody else gets. */
const waitersTime = 1_000;
/** Calls for one login in ten minutes: other scopes and short tokens need one each. */
const mostCalls = 60;

export interface FrontEndRefresh extends RefreshTokenOwner, RefreshGrant {}

export type CallProvider = (grant: RefreshGrant) => Promise<TokenResponse>;

interface InFlight {
  readonly scope: string | undefined;
  /** Undefined: another relay has rotated the refresh token. */
  readonly result: Promise<RefreshResult | undefined>;
}

/** The chains of refresh tokens, each of which the provider has replaced by the next one, at this and at other relays. */
export class RefreshChains {
  readonly results: ReturnType<typeof createResults>;
  readonly #home: Home;
  readonly #inFlight = new Map<string, InFlight>();
  /** The refresh tokens of logins that are to be revoked: from then on, only the provider gives tokens. */
  readonly #toRevoke: ReturnType<typeof createMarks>;
  readonly #refusals: ReturnType<typeof createRecent<RelayError>>;
  readonly #countCall: (login: string) => void;

  constructor(home: Home) {
    this.#home = home;
    this.results = createResults(home.now);
    this.#toRevoke = createMarks(home, kinds.endedRefreshes);
    this.#refusals = createRecent(resultTime, mostResults, home.now);
    this.#countCall = createRefreshCount(mostCalls, home.now);
  }

  /**
   * The newest result that a refresh may have: an earlier one, or that of a call.
   *
   * @throws {RelayError} `rate_limited`, or why the call failed
   */
  async newest(
    refresh: FrontEndRefresh,
    call: CallProvider,
    isGood: IsGood,
  ): Promise<RefreshResult> {
    const { results } = this;
    // The refresh token of which the other relays know nothing newer.
    let asked: string | undefined;
    for (;;) {
      const { newest, key, last, current } = this.#follow(refresh);
      if (current !== undefined && current.scope !== refresh.scope) {
        await current.result.catch(() => {});
        continue;
      }
      const ended = last ?? results.repeatable(key, isGood);
      const isMeant = ended?.scope === refresh.scope && !this.#toRevoke.isMarkedHere(key);
      if (current === undefined && ended && isMeant && results.isUsable(ended)) {
        if (this.#home.shared === undefined || asked === key) return ended;
        asked = key;
        if (!(await this.#isOlderThanAtOthers(newest, key))) continue;
      }
      const result = await (current?.result ?? this.#start(newest, call));
      if (result !== undefined) return result;
    }
  }

  /**
   * The newest result of the chain of a refresh token, which is no longer repeated. Waits for a refresh in flight.
   *
   * @returns undefined if the refresh token was not rotated, or if that is forgotten
   */
  async end(token: RefreshTokenOwner): Promise<Refreshed | undefined> {
    for (;;) {
      const { newest, key, last, current } = this.#follow(token);
      if (current !== undefined) {
        await current.result.catch(() => {});
        continue;
      }
      await this.#toRevoke.mark(key, resultTime);
      const found = await lead(this.#home, kinds.refreshResults, key, {
        call: async () => ({}),
        isAnswer: (outcome) => isRotation(outcome, newest.refreshToken),
        // Nothing but an end to the lock.
        keep: () => ({ lifetime: 1, always: false }),
      }).catch(() => undefined);
      if (found === undefined || found.how === 'led') {
        await this.forget(keyOfRefresh(token));
        return last?.response;
      }
      this.#learn(newest, found);
    }
  }

  /** Leaves a result to the other relays. @param passed undefined: it did not pass its check yet */
  async share(key: string, ended: RefreshResult, passed?: 'passed'): Promise<void> {
    const outcome = { scope: ended.scope, response: aged(ended, this.#home.now()) };
    const { shared } = this.#home;
    if (passed) await shared?.leave(letter, key, outcome, resultTime);
    else await shared?.leave(letter, key, { ...outcome, isUnchecked: true }, uncheckedTime);
  }

  /** Forgets a result that did not pass its check, at the other relays, too. */
  async forget(key: string): Promise<void> {
    if (this.results.unchecked.get(key) === undefined) return;
    this.results.unchecked.delete(key);
    await this.#home.shared?.forget(letter, key);
  }

  /** Follows the rotations from a refresh token to the newest one, or to one that is in flight. */
  #follow<Token extends RefreshTokenOwner>(first: Token) {
    let newest = first;
    let last: RefreshResult | undefined;
    for (;;) {
      const key = keyOfRefresh(newest);
      const current = this.#inFlight.get(key);
      const ended = current === undefined ? this.results.after(key) : undefined;
      last = ended ?? last;
      const { refreshToken = newest.refreshToken } = ended?.response ?? {};
      if (refreshToken === newest.refreshToken) return { newest, key, last, current };
      newest = { ...first, refreshToken };
    }
  }

  /** Whether another relay has a newer result, or is to get one. */
  async #isOlderThanAtOthers({ refreshToken }: RefreshTokenOwner, key: string): Promise<boolean> {
    if (await this.#toRevoke.isMarked(key)) await this.#toRevoke.mark(key, resultTime);
    const found = await this.#home.shared?.peek(letter, key);
    return found === 'locked' || (found !== undefined && isFinal(found.outcome, refreshToken));
  }

  /** @returns as `#learn` does */
  async #start(refresh: FrontEndRefresh, call: CallProvider): Promise<RefreshResult | undefined> {
    const { login, refreshToken, scope } = refresh;
    const key = keyOfRefresh(refresh);
    const refusal = this.#refusals.get(key);
    if (refusal !== undefined) throw refusal;
    const result = lead(this.#home, kinds.refreshResults, key, {
      call: async () => {
        this.#countCall(login);
        return { scope, response: await call({ refreshToken, scope }) };
      },
      // As in one process: no other failure is repeated, and only those who wait share the rest.
      isAnswer(outcome, hasWaited) {
        const isSame = outcome.response !== undefined && outcome.scope === scope;
        return (
          isFinal(outcome, refreshToken) || (hasWaited && (outcome.failure !== undefined || isSame))
        );
      },
      keep: (outcome) => ({
        lifetime: isFinal(outcome, refreshToken) ? resultTime : waitersTime,
        always: isRotation(outcome, refreshToken),
      }),
    })
      .then((found) => this.#learn(refresh, found))
      .catch((error: unknown) => {
        if (isFailure(error, 'refresh_refused')) {
          this.#refusals.set(key, error, login);
          this.results.latest.delete(key);
        }
        throw error;
      })
      .finally(() => this.#inFlight.delete(key));
    this.#inFlight.set(key, { scope, result });
    return await result;
  }

  /**
   * Remembers what a call of this or of another relay has left.
   *
   * @returns undefined if another relay has rotated the refresh token: follow it
   * @throws {RelayError} the failure of its call
   */
  #learn(token: RefreshTokenOwner, { outcome, age, how }: Found): RefreshResult | undefined {
    if (outcome.failure !== undefined) throw new RelayError(outcome.failure);
    if (outcome.response === undefined) return undefined;
    // A provider that sends no refresh token does not rotate it. @see RFC 6749 §6
    const { refreshToken = token.refreshToken } = outcome.response;
    const response = { ...outcome.response, refreshToken };
    const ended = { scope: outcome.scope, response, at: this.#home.now() - age };
    this.results.rotate(token, ended, Math.max(0, resultTime - age));
    if (outcome.isUnchecked) this.results.keepUnchecked(token, ended);
    if (how === 'led') this.results.repeat(token, ended);
    return how === 'led' || refreshToken === token.refreshToken ? ended : undefined;
  }
}

/** Whether no further call would give another answer. */
function isFinal(outcome: Outcome, refreshToken: string): boolean {
  return outcome.failure === 'refresh_refused' || isRotation(outcome, refreshToken);
}

/** Whether the provider has replaced the refresh token. */
function isRotation({ response }: Outcome, refreshToken: string): boolean {
  return response?.refreshToken !== undefined && response.refreshToken !== refreshToken;
}
