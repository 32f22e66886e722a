import { RelayError } from '../errors.ts';
import { createMarks, type Home, lead } from '../memory/home.ts';
import type { Found, Left } from '../memory/shared.ts';
import type { RefreshGrant } from '../oauth/token-request.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { createRecent, keyOf } from '../recent.ts';
import { createCallLimit } from './call-limit.ts';

const kind = 'r';
const lifetime = 60_000;
/** Milliseconds for which the relays that wait find a result that nobody else gets. */
const waitersTime = 1_000;
const most = 4096;
/** How long a result is also repeated for its own refresh token: a login must not spend what all share. */
const repeatTime = 30_000;
/** Seconds. A token that ends sooner is refreshed. */
const shortLife = 60;

/** A refresh token of the provider, and the client that it was issued to. */
export interface RefreshTokenOwner {
  readonly registration: string;
  readonly frontEnd: string;
  /** The thumbprint of the front end's key, if the relay's refresh token is bound to one. */
  readonly thumbprint?: string | undefined;
  readonly refreshToken: string;
}

/** A refresh for a front end. */
export interface FrontEndRefresh extends RefreshTokenOwner, RefreshGrant {}

/** The answer to a refresh, with the refresh token that is valid from now on. */
export type Refreshed = TokenResponse & { readonly refreshToken: string };

/** The result of a refresh, and when it ended. */
export interface Ended {
  readonly scope: string | undefined;
  readonly response: Refreshed;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export type CallProvider = (grant: RefreshGrant) => Promise<TokenResponse>;
/** Whether the provider has not refused an access token since it issued it. */
export type IsGood = (accessToken: string) => boolean;

interface InFlight {
  readonly scope: string | undefined;
  /** Undefined: another relay has rotated the refresh token. */
  readonly response: Promise<Refreshed | undefined>;
}

/** The refreshes of this process that are in flight or that ended within a minute. */
export type Refreshes = ReturnType<typeof createRefreshes>;

/**
 * Remembers the last 4096 results at most, each for 60 seconds.
 *
 * @see RFC 6749 §6, RFC 9700 §4.14.2
 */
export function createRefreshes(home: Home) {
  const { now } = home;
  const inFlight = new Map<string, InFlight>();
  const rotations = createRecent<Ended>(lifetime, most, now);
  /** By the refresh token of the result. */
  const latest = createRecent<Ended>(repeatTime, most, now);
  /** The refresh tokens of logins that are to be revoked: from then on, only the provider gives tokens. */
  const toRevoke = createMarks(home, 'e', most);
  const refusals = createRecent<RelayError>(lifetime, most, now);
  const calls = createCallLimit(4 * most, now);

  /**
   * Remembers what a call of this or of another relay has left.
   *
   * @returns undefined if another relay has rotated the refresh token: follow it
   * @throws {RelayError} the failure of its call
   */
  function learn(token: RefreshTokenOwner, { left, age, how }: Found): Refreshed | undefined {
    if (left.failure !== undefined) throw new RelayError(left.failure);
    if (left.response === undefined) return undefined;
    // A provider that sends no refresh token does not rotate it. @see RFC 6749 §6
    const { refreshToken = token.refreshToken } = left.response;
    const response = { ...left.response, refreshToken };
    const ended = { scope: left.scope, response, at: now() - age };
    const key = keyOfRefresh(token);
    const next = keyOfRefresh({ ...token, refreshToken });
    const isRotated = refreshToken !== token.refreshToken;
    if (isRotated) {
      calls.move(key, next);
      rotations.set(key, ended);
      // The provider may return an earlier token again. Without this, the chain would be a circle.
      rotations.delete(next);
    }
    if (how !== 'led') return isRotated ? undefined : aged(ended, now());
    latest.set(next, ended);
    return response;
  }

  /** @returns as `learn` does */
  async function start(refresh: FrontEndRefresh, call: CallProvider) {
    const { refreshToken, scope } = refresh;
    const key = keyOfRefresh(refresh);
    const refusal = refusals.get(key);
    if (refusal !== undefined) throw refusal;
    const isFinal = (left: Left) =>
      left.failure === 'refresh_refused' || isRotation(left, refreshToken);
    const response = lead(home, kind, key, {
      async call() {
        calls.count(key);
        return { scope, response: await call({ refreshToken, scope }) };
      },
      // As in one process: no other failure is repeated, and only those who wait share the rest.
      isAnswer(left, hasWaited) {
        const isSame = left.response !== undefined && left.scope === scope;
        return isFinal(left) || (hasWaited && (left.failure !== undefined || isSame));
      },
      keep: (left) => ({
        lifetime: isFinal(left) ? lifetime : waitersTime,
        always: isRotation(left, refreshToken),
      }),
    })
      .then((found) => learn(refresh, found))
      .catch((error: unknown) => {
        if (error instanceof RelayError && error.code === 'refresh_refused') {
          refusals.set(key, error);
          latest.delete(key);
        }
        throw error;
      })
      .finally(() => inFlight.delete(key));
    inFlight.set(key, { scope, response });
    return await response;
  }

  /** Follows the rotations from a refresh token to the newest one, or to one that is in flight. */
  function follow<Token extends RefreshTokenOwner>(first: Token) {
    let newest = first;
    let last: Ended | undefined;
    for (;;) {
      const key = keyOfRefresh(newest);
      const current = inFlight.get(key);
      const rotation = current === undefined ? rotations.get(key) : undefined;
      if (rotation === undefined || now() - rotation.at >= lifetime)
        return { newest, last, current };
      last = rotation;
      newest = { ...first, refreshToken: rotation.response.refreshToken };
    }
  }

  /** The result that a refresh token came with, if it may be repeated. */
  function repeatable(token: RefreshTokenOwner, isGood: IsGood): Ended | undefined {
    const ended = latest.get(keyOfRefresh(token));
    if (ended && !isGood(ended.response.accessToken)) return undefined;
    const expiresIn = ended && aged(ended, now()).expiresIn;
    return expiresIn === undefined || expiresIn > shortLife ? ended : undefined;
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
     * - A login has 60 calls in ten minutes at most.
     *
     * @param refresh from a caller that has proved its key
     * @param call must not end if one caller closes its connection
     * @throws {RelayError} `rate_limited`, or why the call failed
     */
    async join(
      refresh: FrontEndRefresh,
      call: CallProvider,
      isGood: IsGood = () => true,
    ): Promise<Refreshed> {
      // The refresh token of which the other relays know nothing newer.
      let asked: string | undefined;
      for (;;) {
        const { newest, last, current } = follow(refresh);
        if (current !== undefined && current.scope !== refresh.scope) {
          await current.response.catch(() => {});
          continue;
        }
        const key = keyOfRefresh(newest);
        const ended = last ?? repeatable(newest, isGood);
        const isRepeatable = ended?.scope === refresh.scope && !toRevoke.isMarkedHere(key);
        if (current === undefined && isRepeatable && ended !== undefined) {
          if (home.shared === undefined || asked === key) return aged(ended, now());
          asked = key;
          if (await toRevoke.isMarked(key)) await toRevoke.mark(key, lifetime);
          const found = await home.shared.peek(kind, key, lifetime);
          const isNewer = found === 'locked' || found?.left.response !== undefined;
          if (!isNewer) continue;
        }
        const refreshed = await (current?.response ?? start(newest, call));
        if (refreshed !== undefined) return refreshed;
      }
    },
    /**
     * Gives the newest token that replaced a refresh token within the last minute, to be revoked. Its result is
     * no longer repeated. Waits for a refresh in flight.
     *
     * @returns undefined if the refresh token was not rotated
     */
    async end(token: RefreshTokenOwner): Promise<Refreshed | undefined> {
      for (;;) {
        const { newest, last, current } = follow(token);
        if (current !== undefined) {
          await current.response.catch(() => {});
          continue;
        }
        const key = keyOfRefresh(newest);
        await toRevoke.mark(key, lifetime);
        const found = await lead(home, kind, key, {
          call: async () => ({}),
          isAnswer: (left) => isRotation(left, newest.refreshToken),
          // Nothing but an end to the lock.
          keep: () => ({ lifetime: 1, always: false }),
        }).catch(() => undefined);
        if (found === undefined || found.how === 'led') return last?.response;
        learn(newest, found);
      }
    },
  };
}

/** Whether the provider has replaced the refresh token. */
function isRotation({ response }: Left, refreshToken: string): boolean {
  return response?.refreshToken !== undefined && response.refreshToken !== refreshToken;
}

/** Without the scope: a refresh token is spent whatever the scope was. */
export function keyOfRefresh(token: RefreshTokenOwner): string {
  const { registration, frontEnd, thumbprint, refreshToken } = token;
  return keyOf(registration, frontEnd, thumbprint, refreshToken);
}

/** The response as it is true at a later time. */
export function aged({ response, at }: Ended, now: number): Refreshed {
  const age = Math.max(0, now - at) / 1000;
  const left = (seconds: number | undefined) =>
    seconds === undefined ? undefined : Math.max(0, Math.floor(seconds - age));
  const { expiresIn, refreshExpiresIn } = response;
  return { ...response, expiresIn: left(expiresIn), refreshExpiresIn: left(refreshExpiresIn) };
}
