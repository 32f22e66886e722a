import type { Clock } from '../clock.ts';
import { kinds } from '../memory/kinds.ts';
import { createLasting, createRecent, keyOf } from '../memory/recent.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import type { Owner } from './refresh-tokens.ts';

/** Milliseconds for which a result is repeated, and results of each sort. */
/** Milliseconds for which a result is given again: a minute. */
export const { lifetime: resultTime, most: mostResults } = kinds.refreshResults;
/** The same for a result that did not pass its check yet: an hour. */
export const uncheckedTime = 3_600_000;
/** How long a result is also repeated for its own refresh token: one login must not use up the requests that the provider allows the relay. */
const repeatTime = 30_000;
/** Seconds. A token that ends sooner is refreshed. */
const shortLife = 60;

/** A refresh token of the provider, and the client that it was issued to. */
export interface RefreshTokenOwner {
  /** Tells its login from all others. */
  readonly login: string;
  readonly owner: Owner;
  /** The thumbprint of the front end's key, if the relay's refresh token is bound to one. */
  readonly thumbprint?: string | undefined;
  readonly refreshToken: string;
}

/** The answer to a refresh, with the refresh token that is valid from now on. */
export type Refreshed = TokenResponse & { readonly refreshToken: string };

export interface RefreshResult {
  readonly scope: string | undefined;
  readonly response: Refreshed;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Whether the provider does not know the access token any more. */
  readonly isSpent?: boolean;
}

/** Whether the provider has not refused an access token since it issued it. */
export type IsGood = (accessToken: string) => boolean;

/**
 * Remembers the last 4096 results at most, and the last 4096 that did not pass their check yet. The logins that have most
 * give way first.
 */
export function createResults(now: Clock) {
  /** By the refresh token that was given. */
  const rotations = createLasting<RefreshResult>(mostResults, now, true);
  /** By the refresh token of the result. */
  const latest = createRecent<RefreshResult>(repeatTime, mostResults, now);
  /**
   * Those that did not pass their check yet. A provider that rotates refresh tokens takes the earlier one no more, so an
   * outage of what the check asks would end the login.
   */
  const unchecked = createRecent<RefreshResult>(uncheckedTime, mostResults, now);
  const keysOf = (given: RefreshTokenOwner, { response: { refreshToken } }: RefreshResult) =>
    [keyOfRefresh(given), keyOfRefresh({ ...given, refreshToken })] as const;
  return {
    rotations,
    latest,
    unchecked,
    /** What a refresh token was rotated to, or what is kept of it. */
    after: (key: string): RefreshResult | undefined => unchecked.get(key) ?? rotations.get(key),
    /** Remembers that a refresh token was replaced, if it was. @param lifetime milliseconds */
    rotate(given: RefreshTokenOwner, ended: RefreshResult, lifetime: number): void {
      const [key, next] = keysOf(given, ended);
      if (next === key) return;
      // What was kept of the replaced token would hide the next one. And the provider may return an earlier token again:
      // without this, the chain would be a circle.
      for (const one of [key, next]) {
        unchecked.delete(one);
        rotations.delete(one);
      }
      rotations.set(key, ended, lifetime, given.login);
    },
    /** Keeps a result until it has passed its check. */
    keepUnchecked: (given: RefreshTokenOwner, ended: RefreshResult): void =>
      unchecked.set(keyOfRefresh(given), ended, given.login),
    /** Remembers a result for its own refresh token. */
    repeat: (given: RefreshTokenOwner, ended: RefreshResult): void =>
      latest.set(keysOf(given, ended)[1], ended, given.login),
    /** Whether a result may be repeated for those who did not get it: for a minute, or while its token is good. */
    isUsable(ended: RefreshResult): boolean {
      const isNew = now() - ended.at < resultTime;
      return !ended.isSpent && (isNew || aged(ended, now()).expiresIn !== 0);
    },
    /** The result that a refresh token came with, if it may be repeated. */
    repeatable(key: string, isGood: IsGood): RefreshResult | undefined {
      const ended = latest.get(key);
      if (ended && !isGood(ended.response.accessToken)) return undefined;
      const expiresIn = ended && aged(ended, now()).expiresIn;
      return expiresIn === undefined || expiresIn > shortLife ? ended : undefined;
    },
  };
}

/** Without the scope: a refresh token is spent whatever the scope was. */
export function keyOfRefresh(token: RefreshTokenOwner): string {
  return keyOf(...token.owner, token.thumbprint, token.refreshToken);
}

/** The response as it is true at a later time. Less than a second does not count: a call is answered as it was. */
export function aged({ response, at }: RefreshResult, now: number): Refreshed {
  const age = now - at < 1000 ? 0 : (now - at) / 1000;
  const left = (seconds: number | undefined) =>
    seconds === undefined ? undefined : Math.max(0, Math.floor(seconds - age));
  const { expiresIn, refreshExpiresIn } = response;
  return { ...response, expiresIn: left(expiresIn), refreshExpiresIn: left(refreshExpiresIn) };
}
