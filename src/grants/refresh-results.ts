import type { Clock } from '../clock.ts';
import { createExpiringMap, createExpiringSecrets, hashKey } from '../memory/expiring-map.ts';
import { kinds } from '../memory/kinds.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import type { Owner, Refreshed } from './refresh-tokens.ts';

/** `resultTime`: milliseconds for which a replaced refresh token gets the result that replaced it. */
export const { lifetime: resultTime, most: mostResults } = kinds.refreshResults;
/** Milliseconds for which a result is kept that has not passed its check. */
export const uncheckedTime = 3_600_000;
/** Milliseconds for which a new refresh token gets the result that it came with, instead of a new call. */
const repeatTime = 30_000;
/** Seconds that the access token of a result must still last if the result is repeated instead of a new call. */
const shortestLeft = 60;

/** A refresh token of the provider, with the login and the front end that it belongs to. */
export interface OwnedRefreshToken {
  readonly login: string;
  readonly owner: Owner;
  /** Undefined if the relay's refresh token is not bound to a key. */
  readonly thumbprint?: string | undefined;
  readonly refreshToken: string;
}

/** A response to a refresh, with the refresh token that is valid from now on. */
export interface RefreshResult {
  readonly scope: string | undefined;
  readonly response: Refreshed;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Whether the provider has refused its access token, so that only its refresh token is of use. */
  readonly isSpent?: boolean;
}

/** Whether the provider has not refused an access token since it issued the token. */
export type IsGood = (accessToken: string) => boolean;

/**
 * Remembers results of refreshes in three maps of at most 4096. A full map drops the oldest result of the login with
 * most results, so that one login cannot evict the results of all others.
 */
export function createResults(now: Clock) {
  /** Results with a new refresh token, by the refresh token that they replaced. */
  const rotations = createExpiringMap<RefreshResult>(mostResults, now, true);
  /**
   * The newest results, by the refresh token in the result. They are repeated, so that a login that refreshes again and
   * again does not use up the token requests that the provider allows the relay.
   */
  const latest = createExpiringSecrets<RefreshResult>(repeatTime, mostResults, now);
  /**
   * Results that have not passed their check, by the refresh token that was sent. While the check cannot be made, the
   * result must be kept. A provider that rotates refresh tokens does not accept the sent token again, so without the
   * result, the login would end.
   */
  const unchecked = createExpiringSecrets<RefreshResult>(uncheckedTime, mostResults, now);
  const hashNewToken = (sent: OwnedRefreshToken, { response: { refreshToken } }: RefreshResult) =>
    hashRefreshToken({ ...sent, refreshToken });
  return {
    rotations,
    latest,
    unchecked,
    /** The result of a refresh token that was replaced, or whose result has not passed its check. */
    resultFor: (key: string): RefreshResult | undefined => unchecked.get(key) ?? rotations.get(key),
    /**
     * Records that the provider replaced the sent refresh token. Does nothing if the provider kept it.
     *
     * @param lifetime milliseconds
     */
    recordRotation(sent: OwnedRefreshToken, result: RefreshResult, lifetime: number): void {
      const sentKey = hashRefreshToken(sent);
      const newKey = hashNewToken(sent, result);
      if (newKey === sentKey) return;
      // Drop older entries of both tokens. An unchecked entry would hide this result. And if the provider reissues an
      // old token, the old entry of that token would close the chain into a loop.
      for (const key of [sentKey, newKey]) {
        unchecked.delete(key);
        rotations.delete(key);
      }
      rotations.set(sentKey, result, lifetime, sent.login);
    },
    /** Keeps a result that has not passed its check, by the refresh token that was sent. */
    keepUnchecked: (sent: OwnedRefreshToken, result: RefreshResult): void =>
      unchecked.set(hashRefreshToken(sent), result, sent.login),
    /** Remembers a result by its new refresh token, for `repeatableResult`. */
    rememberLatest: (sent: OwnedRefreshToken, result: RefreshResult): void =>
      latest.set(hashNewToken(sent, result), result, sent.login),
    /** Whether a result may still be given to a request: for a minute, or until its access token ends. */
    isUsable(result: RefreshResult): boolean {
      const isNew = now() - result.at < resultTime;
      return !result.isSpent && (isNew || reduceLifetimes(result, now()).expiresIn !== 0);
    },
    /** The result that a refresh token came with, while its access token is good and valid for another minute. */
    repeatableResult(key: string, isGood: IsGood): RefreshResult | undefined {
      const result = latest.get(key);
      if (result === undefined || !isGood(result.response.accessToken)) return undefined;
      const { expiresIn } = reduceLifetimes(result, now());
      return expiresIn === undefined || expiresIn > shortestLeft ? result : undefined;
    },
  };
}

/**
 * Hashes a refresh token into the key under which its results are remembered. Requests for different scopes share the
 * key, because a refresh with any scope spends the token. The login is left out, so that logins to which the provider
 * gave the same refresh token share its results.
 */
export function hashRefreshToken(token: OwnedRefreshToken): string {
  return hashKey(...token.owner, token.thumbprint, token.refreshToken);
}

/**
 * Reduces the lifetimes in a response by its age. A response younger than a second keeps the provider's numbers.
 *
 * @param at the time of the response, in milliseconds since 1970
 */
export function reduceLifetimes<Response extends TokenResponse>(
  { response, at }: { readonly response: Response; readonly at: number },
  now: number,
): Response {
  const age = now - at < 1000 ? 0 : (now - at) / 1000;
  const reduce = (seconds: number | undefined) =>
    seconds === undefined ? undefined : Math.max(0, Math.floor(seconds - age));
  const { expiresIn, refreshExpiresIn } = response;
  return { ...response, expiresIn: reduce(expiresIn), refreshExpiresIn: reduce(refreshExpiresIn) };
}
