import { isFailure, RelayError } from '../errors.ts';
import { createMarks, type Home, lead } from '../memory/home.ts';
import type { Found, Left } from '../memory/shared.ts';
import type { RefreshGrant } from '../oauth/token-request.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { createRecent } from '../recent.ts';
import {
  aged,
  createResults,
  type Ended,
  type IsGood,
  keptTime,
  keyOfRefresh,
  mostResults,
  type Refreshed,
  type RefreshTokenOwner,
  resultTime,
} from './refresh-results.ts';

const kind = 'r';
/** Milliseconds for which the relays that wait find a result that nobody else gets. */
const waitersTime = 1_000;

/** A refresh for a front end. */
export interface FrontEndRefresh extends RefreshTokenOwner, RefreshGrant {}

type CallProvider = (grant: RefreshGrant) => Promise<TokenResponse>;

interface InFlight {
  readonly scope: string | undefined;
  /** Undefined: another relay has rotated the refresh token. */
  readonly result: Promise<Ended | undefined>;
}

/** The refreshes of this process that are in flight, or whose results are remembered. */
export type Refreshes = ReturnType<typeof createRefreshes>;

/** @see RFC 6749 §6, RFC 9700 §4.14.2 */
export function createRefreshes(home: Home) {
  const { now, shared } = home;
  const inFlight = new Map<string, InFlight>();
  const results = createResults(now);
  const { kept, latest, rotations } = results;
  /** The refresh tokens of logins that are to be revoked: from then on, only the provider gives tokens. */
  const toRevoke = createMarks(home, 'e', mostResults);
  const refusals = createRecent<RelayError>(resultTime, mostResults, now);

  /**
   * Remembers what a call of this or of another relay has left.
   *
   * @returns undefined if another relay has rotated the refresh token: follow it
   * @throws {RelayError} the failure of its call
   */
  function learn(token: RefreshTokenOwner, { left, age, how }: Found): Ended | undefined {
    if (left.failure !== undefined) throw new RelayError(left.failure);
    if (left.response === undefined) return undefined;
    // A provider that sends no refresh token does not rotate it. @see RFC 6749 §6
    const { refreshToken = token.refreshToken } = left.response;
    const response = { ...left.response, refreshToken };
    const ended = { scope: left.scope, response, at: now() - age };
    const key = keyOfRefresh(token);
    const next = keyOfRefresh({ ...token, refreshToken });
    const lifetime = left.lifetime === keptTime ? keptTime : resultTime - age;
    if (next !== key) results.rotate(key, next, ended, lifetime);
    if (how === 'led') latest.set(next, ended);
    return how === 'led' || next === key ? ended : undefined;
  }

  /** @returns as `learn` does */
  async function start(refresh: FrontEndRefresh, call: CallProvider) {
    const { refreshToken, scope } = refresh;
    const key = keyOfRefresh(refresh);
    const refusal = refusals.get(key);
    if (refusal !== undefined) throw refusal;
    const result = lead(home, kind, key, {
      async call() {
        results.countCall(key);
        return { scope, response: await call({ refreshToken, scope }) };
      },
      // As in one process: no other failure is repeated, and only those who wait share the rest.
      isAnswer(left, hasWaited) {
        const isSame = left.response !== undefined && left.scope === scope;
        return isFinal(left, refreshToken) || (hasWaited && (left.failure !== undefined || isSame));
      },
      keep: (left) => ({
        lifetime: isFinal(left, refreshToken) ? resultTime : waitersTime,
        always: isRotation(left, refreshToken),
      }),
    })
      .then((found) => learn(refresh, found))
      .catch((error: unknown) => {
        if (isFailure(error, 'refresh_refused')) {
          refusals.set(key, error);
          latest.delete(key);
        }
        throw error;
      })
      .finally(() => inFlight.delete(key));
    inFlight.set(key, { scope, result });
    return await result;
  }

  /** Follows the rotations from a refresh token to the newest one, or to one that is in flight. */
  function follow<Token extends RefreshTokenOwner>(first: Token) {
    let newest = first;
    let last: Ended | undefined;
    for (;;) {
      const key = keyOfRefresh(newest);
      const current = inFlight.get(key);
      const ended = current === undefined ? results.after(key) : undefined;
      last = ended ?? last;
      const { refreshToken = newest.refreshToken } = ended?.response ?? {};
      if (refreshToken === newest.refreshToken) return { newest, key, last, current };
      newest = { ...first, refreshToken };
    }
  }

  /** The newest result that a refresh may have: an earlier one, or that of a call. */
  async function newestOf(refresh: FrontEndRefresh, call: CallProvider, isGood: IsGood) {
    // The refresh token of which the other relays know nothing newer.
    let asked: string | undefined;
    for (;;) {
      const { newest, key, last, current } = follow(refresh);
      if (current !== undefined && current.scope !== refresh.scope) {
        await current.result.catch(() => {});
        continue;
      }
      const ended = last ?? results.repeatable(key, isGood);
      const isMeant = ended?.scope === refresh.scope && !toRevoke.isMarkedHere(key);
      if (current === undefined && ended && isMeant && results.isUsable(ended)) {
        if (shared === undefined || asked === key) return ended;
        asked = key;
        if (await toRevoke.isMarked(key)) await toRevoke.mark(key, resultTime);
        const found = await shared.peek(kind, key);
        const isNewer = found === 'locked' || (found && isFinal(found.left, newest.refreshToken));
        if (!isNewer) continue;
      }
      const result = await (current?.result ?? start(newest, call));
      if (result !== undefined) return result;
    }
  }

  async function forget(key: string): Promise<void> {
    if (kept.get(key) === undefined) return;
    kept.delete(key);
    await shared?.forget(kind, key);
  }

  return {
    /**
     * Refreshes once for all requests with the same refresh token, such as those of twenty tabs, or of a page
     * that did not get the response. A provider that rotates refresh tokens treats a second use as theft.
     *
     * - While a call is in flight, all requests get its result or its error.
     * - A refusal is repeated for 60 seconds: the retries of a page must not use up the token requests that
     *   the provider allows the relay. No other error is repeated.
     * - If the provider has rotated the refresh token, the newest result of the chain is repeated for 60
     *   seconds. For the newest refresh token itself it is repeated for 30 seconds, and only while the access
     *   token is good for more than a minute.
     * - If the newest result has another scope, the newest refresh token is refreshed.
     * - A result that does not pass its check is kept for an hour. The next refresh only repeats the check.
     * - A login has 60 calls in ten minutes at most.
     *
     * @param refresh from a caller that has proved its key
     * @param call must not end if one caller closes its connection
     * @param check whether the result may leave the relay. `access_refused` is final
     * @throws {RelayError} `rate_limited`, or why the call or the check failed
     */
    async join(
      refresh: FrontEndRefresh,
      call: CallProvider,
      isGood: IsGood = () => true,
      check?: (refreshed: Refreshed) => Promise<void>,
    ): Promise<Refreshed> {
      const ended = await newestOf(refresh, call, isGood);
      const { scope, response } = ended;
      const key = keyOfRefresh(refresh);
      const wasKept = kept.get(key) !== undefined;
      if (check === undefined && !wasKept) return aged(ended, now());
      // Before the check: it may take longer than a rotation is remembered.
      kept.set(key, ended);
      // A logout may take it.
      const isStillKept = () => kept.get(key) === ended;
      const isRotated = response.refreshToken !== refresh.refreshToken;
      const share = async (lifetime: number) =>
        await shared?.leave(kind, key, { scope, response: aged(ended, now()) }, lifetime);
      try {
        await check?.(response);
      } catch (error) {
        if (isFailure(error, 'access_refused')) await forget(key);
        else if (isStillKept()) {
          if (isFailure(error, 'token_invalid')) kept.set(key, { ...ended, isSpent: true });
          // The next refresh may reach another relay.
          if (isRotated) await share(keptTime);
        }
        throw error;
      }
      if (isStillKept()) {
        kept.delete(key);
        // For pages that did not get the response.
        if (wasKept && isRotated) {
          rotations.set(key, ended, resultTime);
          await share(resultTime);
        }
      }
      return aged(ended, now());
    },
    /**
     * Gives the newest token that replaced a refresh token, as long as that is remembered, to be revoked. Its result is
     * no longer repeated. Waits for a refresh in flight.
     *
     * @returns undefined if the refresh token was not rotated
     */
    async end(token: RefreshTokenOwner): Promise<Refreshed | undefined> {
      for (;;) {
        const { newest, key, last, current } = follow(token);
        if (current !== undefined) {
          await current.result.catch(() => {});
          continue;
        }
        await toRevoke.mark(key, resultTime);
        const found = await lead(home, kind, key, {
          call: async () => ({}),
          isAnswer: (left) => isRotation(left, newest.refreshToken),
          // Nothing but an end to the lock.
          keep: () => ({ lifetime: 1, always: false }),
        }).catch(() => undefined);
        if (found === undefined || found.how === 'led') {
          await forget(keyOfRefresh(token));
          return last?.response;
        }
        learn(newest, found);
      }
    },
  };
}

/** Whether no further call would give another answer. */
function isFinal(left: Left, refreshToken: string): boolean {
  return left.failure === 'refresh_refused' || isRotation(left, refreshToken);
}

/** Whether the provider has replaced the refresh token. */
function isRotation({ response }: Left, refreshToken: string): boolean {
  return response?.refreshToken !== undefined && response.refreshToken !== refreshToken;
}
