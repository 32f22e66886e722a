import type { Clock } from '../clock.ts';
import { kinds } from '../memory/kinds.ts';
import { createLasting, createRecent, hashKey } from '../memory/recent.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import type { Owner, Refreshed } from './refresh-tokens.ts';

/** Milliseconds for which requests with a replaced refresh token get the result that replaced it: a minute. */
export const { lifetime: resultTime, most: mostResults } = kinds.refreshResults;
/** Milliseconds for which a result that did not pass its check yet is kept: an hour. */
export const uncheckedTime = 3_600_000;
/** Milliseconds for which requests with the refresh token of a result get that result again: half a minute. */
const repeatTime = 30_000;
/** Seconds. If the access token of a result ends sooner, its refresh token is refreshed instead. */
const shortLife = 60;

/** A refresh token of the provider, and the client that it was issued to. */
export interface RefreshTokenOwner {
  /** The id of its login. */
  readonly login: string;
  readonly owner: Owner;
  /** The thumbprint of the front end's key, if the relay's refresh token is bound to one. */
  readonly thumbprint?: string | undefined;
  readonly refreshToken: string;
}

export interface RefreshResult {
  readonly scope: string | undefined;
  readonly response: Refreshed;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Whether the provider has refused the access token since. */
  readonly isSpent?: boolean;
}

/** Whether the provider has not refused an access token since it issued it. */
export type IsGood = (accessToken: string) => boolean;

/**
 * Remembers the results of refreshes in three maps, each with the last 4096 at most. If one is full, the login that has
 * most results in it loses its oldest one.
 */
export function createResults(now: Clock) {
  /** Results by the refresh token that they replaced. */
  const rotations = createLasting<RefreshResult>(mostResults, now, true);
  /** Results by their own refresh token: one login must not use up the requests that the provider allows the relay. */
  const latest = createRecent<RefreshResult>(repeatTime, mostResults, now);
  /**
   * Results that did not pass their check yet, by the refresh token that was sent. A provider that rotates refresh
   * tokens does not take that again, so a login would end if the check cannot be made now.
   */
  const unchecked = createRecent<RefreshResult>(uncheckedTime, mostResults, now);
  const hashOwnRefresh = (sent: RefreshTokenOwner, { response: { refreshToken } }: RefreshResult) =>
    hashRefresh({ ...sent, refreshToken });
  return {
    rotations,
    latest,
    unchecked,
    /** The result that a refresh token was sent for, if it was replaced, or has not passed its check yet. */
    after: (key: string): RefreshResult | undefined => unchecked.get(key) ?? rotations.get(key),
    /** Remembers that the refresh token that was sent was replaced, if it was. @param lifetime milliseconds */
    rotate(sent: RefreshTokenOwner, result: RefreshResult, lifetime: number): void {
      const key = hashRefresh(sent);
      const next = hashOwnRefresh(sent, result);
      if (next === key) return;
      // An unchecked result of the replaced token would hide this one. And a provider may give an earlier token again:
      // what was remembered of that would make the chain a circle.
      for (const one of [key, next]) {
        unchecked.delete(one);
        rotations.delete(one);
      }
      rotations.set(key, result, lifetime, sent.login);
    },
    /** Keeps a result until it has passed its check. */
    keepUnchecked: (sent: RefreshTokenOwner, result: RefreshResult): void =>
      unchecked.set(hashRefresh(sent), result, sent.login),
    /** Remembers a result for its own refresh token. */
    repeat: (sent: RefreshTokenOwner, result: RefreshResult): void =>
      latest.set(hashOwnRefresh(sent, result), result, sent.login),
    /** Whether a result may be given to requests that did not get it: for a minute, or until its access token ends. */
    isUsable(result: RefreshResult): boolean {
      const isNew = now() - result.at < resultTime;
      return !result.isSpent && (isNew || aged(result, now()).expiresIn !== 0);
    },
    /** The result that a refresh token came with, while its access token is good for a minute more. */
    repeatable(key: string, isGood: IsGood): RefreshResult | undefined {
      const result = latest.get(key);
      if (result && !isGood(result.response.accessToken)) return undefined;
      const expiresIn = result && aged(result, now()).expiresIn;
      return expiresIn === undefined || expiresIn > shortLife ? result : undefined;
    },
  };
}

/** The key of a refresh. The scope is no part of it: with any scope, a refresh spends the refresh token. */
export function hashRefresh(token: RefreshTokenOwner): string {
  return hashKey(...token.owner, token.thumbprint, token.refreshToken);
}

/** The response with the lifetimes that are left later. Less than a second does not count: that is the first answer. */
export function aged<Response extends TokenResponse>(
  { response, at }: { readonly response: Response; readonly at: number },
  now: number,
): Response {
  const age = now - at < 1000 ? 0 : (now - at) / 1000;
  const left = (seconds: number | undefined) =>
    seconds === undefined ? undefined : Math.max(0, Math.floor(seconds - age));
  const { expiresIn, refreshExpiresIn } = response;
  return { ...response, expiresIn: left(expiresIn), refreshExpiresIn: left(refreshExpiresIn) };
}
