import type { Clock } from '../clock.ts';
import { RelayError } from '../errors.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { createLasting, createRecent, keyOf } from '../recent.ts';

/** Milliseconds for which a result is repeated. */
export const resultTime = 60_000;
/** The same for a result that did not pass its check yet. */
export const keptTime = 3_600_000;
/** How long a result is also repeated for its own refresh token: a login must not spend what all share. */
const repeatTime = 30_000;
/** Seconds. A token that ends sooner is refreshed. */
const shortLife = 60;
/** Results of each kind. */
export const mostResults = 4096;

/** Calls for one login within the time: other scopes and short tokens need one each. */
const mostCalls = 60;
const callsTime = 600_000;
const tooManyCalls =
  'This login is refreshed too often. Nothing is lost: try again in ten minutes.';

/** A refresh token of the provider, and the client that it was issued to. */
export interface RefreshTokenOwner {
  readonly registration: string;
  readonly frontEnd: string;
  /** The thumbprint of the front end's key, if the relay's refresh token is bound to one. */
  readonly thumbprint?: string | undefined;
  readonly refreshToken: string;
}

/** The answer to a refresh, with the refresh token that is valid from now on. */
export type Refreshed = TokenResponse & { readonly refreshToken: string };

/** The result of a refresh, and when it ended. */
export interface Ended {
  readonly scope: string | undefined;
  readonly response: Refreshed;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Whether the provider does not know the access token any more. */
  readonly isSpent?: boolean;
}

/** Whether the provider has not refused an access token since it issued it. */
export type IsGood = (accessToken: string) => boolean;

/** Remembers the last 4096 results at most, and the last 4096 that did not pass their check yet. */
export function createResults(now: Clock) {
  /** By the refresh token that was given. */
  const rotations = createLasting<Ended>(mostResults, now, true);
  /** By the refresh token of the result. */
  const latest = createRecent<Ended>(repeatTime, mostResults, now);
  /**
   * Those that did not pass their check yet. A provider that rotates refresh tokens takes the earlier one no more, so an
   * outage of what the check asks would end the login.
   */
  const kept = createRecent<Ended>(keptTime, mostResults, now);
  /** The calls for a login, by its newest refresh token. */
  const calls = createLasting<{ count: number; end: number }>(4 * mostResults, now);
  return {
    rotations,
    latest,
    kept,
    /** What a refresh token was rotated to, or what is kept of it. */
    after: (key: string): Ended | undefined => kept.get(key) ?? rotations.get(key),
    /** Remembers that a refresh token was replaced. */
    rotate(key: string, next: string, ended: Ended, lifetime: number): void {
      // What was kept of the replaced token would hide the next one. And the provider may return an earlier token again:
      // without this, the chain would be a circle.
      for (const one of [key, next]) {
        kept.delete(one);
        rotations.delete(one);
      }
      if (lifetime === keptTime) kept.set(key, ended);
      else rotations.set(key, ended, lifetime);
      const known = calls.get(key);
      calls.delete(key);
      if (known) calls.set(next, known, known.end - now());
    },
    /** Counts a call to the provider. @throws {RelayError} `rate_limited` */
    countCall(key: string): void {
      const { count, end } = calls.get(key) ?? { count: 0, end: now() + callsTime };
      const retryIn = end - now();
      if (count >= mostCalls)
        throw new RelayError('rate_limited', { retryIn, detail: tooManyCalls });
      calls.set(key, { count: count + 1, end }, retryIn);
    },
    /** Whether a result may be repeated for those who did not get it: for a minute, or while its token is good. */
    isUsable(ended: Ended): boolean {
      const isNew = now() - ended.at < resultTime;
      return !ended.isSpent && (isNew || aged(ended, now()).expiresIn !== 0);
    },
    /** The result that a refresh token came with, if it may be repeated. */
    repeatable(key: string, isGood: IsGood): Ended | undefined {
      const ended = latest.get(key);
      if (ended && !isGood(ended.response.accessToken)) return undefined;
      const expiresIn = ended && aged(ended, now()).expiresIn;
      return expiresIn === undefined || expiresIn > shortLife ? ended : undefined;
    },
  };
}

/** Without the scope: a refresh token is spent whatever the scope was. */
export function keyOfRefresh(token: RefreshTokenOwner): string {
  const { registration, frontEnd, thumbprint, refreshToken } = token;
  return keyOf(registration, frontEnd, thumbprint, refreshToken);
}

/** The response as it is true at a later time. Less than a second does not count: a call is answered as it was. */
export function aged({ response, at }: Ended, now: number): Refreshed {
  const age = now - at < 1000 ? 0 : (now - at) / 1000;
  const left = (seconds: number | undefined) =>
    seconds === undefined ? undefined : Math.max(0, Math.floor(seconds - age));
  const { expiresIn, refreshExpiresIn } = response;
  return { ...response, expiresIn: left(expiresIn), refreshExpiresIn: left(refreshExpiresIn) };
}
