import { isFailure } from '../failures/relay-error.ts';
import type { Home } from '../memory/home.ts';
import { limitPerGrant } from './limit-per-grant.ts';
import { type CallProvider, type FrontEndRefresh, RefreshChains } from './refresh-chain.ts';
import {
  hashRefreshToken,
  type IsGood,
  type OwnedRefreshToken,
  type RefreshResult,
  reduceLifetimes,
  resultTime,
} from './refresh-results.ts';
import type { Refreshed } from './refresh-tokens.ts';

/** The most refreshes of one login in ten minutes, with or without a call. Each of twenty tabs makes its own. */
const mostRefreshes = 600;
/** The most calls to the provider for one login in ten minutes. Each scope needs a call, and each short-lived token. */
const mostCalls = 60;
const tooMany = 'This login is refreshed too often. Nothing is lost: try again in ten minutes.';

/** Checks whether the person may still log in with what a refresh gave. @throws {RelayError} if not, or not known */
type Check = (refreshed: Refreshed) => Promise<void>;

export type Refreshes = ReturnType<typeof createRefreshes>;

/**
 * Refreshes the provider's tokens: one call for all requests of a login at once, and one check of the result.
 *
 * @see RFC 6749 §6, RFC 9700 §4.14.2
 */
export function createRefreshes(home: Home) {
  const chains = new RefreshChains(home);
  const { unchecked, keepUnchecked, rotations } = chains.results;
  const countCall = limitPerGrant(mostCalls, tooMany, home.now);

  /** False if a logout has dropped a result meanwhile, or another request has checked it. */
  const isStillUnchecked = (refresh: FrontEndRefresh, result: RefreshResult) =>
    unchecked.get(hashRefreshToken(refresh)) === result;

  const isRotated = (refresh: FrontEndRefresh, { response }: RefreshResult) =>
    response.refreshToken !== refresh.refreshToken;

  /**
   * Checks a result. Until it has passed, it is kept as unchecked.
   *
   * @param wasUnchecked whether an earlier request got the result, but could not check it
   * @param check undefined if no check is needed any more, so that the result passes
   * @throws {RelayError} why the check failed
   */
  async function checkResult(refresh: FrontEndRefresh, result: RefreshResult, wasUnchecked: boolean, check?: Check) {
    // Keep it before the check, because the check may take longer than a rotation is remembered.
    keepUnchecked(refresh, result);
    try {
      await check?.(result.response);
    } catch (error) {
      await keepAfterFailedCheck(refresh, result, error);
      throw error;
    }
    // During the check, a logout may have dropped the result, or another request may have checked it.
    if (!isStillUnchecked(refresh, result)) return;
    const key = hashRefreshToken(refresh);
    unchecked.delete(key);
    if (wasUnchecked && isRotated(refresh, result)) {
      // The rotation may be forgotten by now, but pages that did not get the response still need it.
      rotations.set(key, result, resultTime, refresh.login);
      await chains.shareChecked(key, result);
    }
  }

  /**
   * Keeps a result for the next refresh, which may come to another relay. If the person is refused, it is forgotten.
   */
  async function keepAfterFailedCheck(refresh: FrontEndRefresh, result: RefreshResult, error: unknown): Promise<void> {
    const key = hashRefreshToken(refresh);
    if (isFailure(error, 'access_refused')) {
      await chains.forgetUnchecked(key);
      return;
    }
    if (!isStillUnchecked(refresh, result)) return;
    // The provider refused the access token, so only the refresh token of this result is of use.
    if (isFailure(error, 'token_invalid')) keepUnchecked(refresh, { ...result, isSpent: true });
    // Without a rotation, the other relays can refresh with the token that the page still has.
    if (isRotated(refresh, result)) await chains.shareUnchecked(key, result);
  }

  return {
    /** Counts a refresh, with or without a call. @throws {RelayError} `rate_limited` */
    count: limitPerGrant(mostRefreshes, tooMany, home.now),
    /**
     * Refreshes once for all requests with the same refresh token, for example if twenty tabs refresh at once, or if a
     * page did not get the response. A provider that rotates refresh tokens takes a second use for theft, and ends the
     * login.
     *
     * - While a call is in flight, all requests get its result or its error.
     * - If the provider rotated the refresh token, a request with the replaced token gets the newest result of the
     *   chain for 60 seconds. A request with the newest token gets it for 30 seconds, and only while the access token
     *   is valid for another minute.
     * - If the newest result has another scope, the newest refresh token is refreshed.
     * - A result that could not be checked is kept for an hour. The next refresh only repeats the check.
     * - A login has at most 60 calls in ten minutes.
     *
     * @param refresh from a caller that has proved its key
     * @param call calls the provider, and continues even if its caller closes the connection
     * @param check must pass before the result leaves the relay. `access_refused` is final
     * @throws {RelayError} `rate_limited`, or why the call or the check failed
     */
    async refreshOnce(
      refresh: FrontEndRefresh,
      call: CallProvider,
      isGood: IsGood = () => true,
      check?: Check,
    ): Promise<Refreshed> {
      const countedCall: CallProvider = async (grant) => {
        countCall(refresh.login);
        return await call(grant);
      };
      const result = await chains.findNewestResult(refresh, countedCall, isGood);
      const wasUnchecked = unchecked.get(hashRefreshToken(refresh)) !== undefined;
      // Without a check, for example because a reload has removed it, an unchecked result passes.
      if (check !== undefined || wasUnchecked) await checkResult(refresh, result, wasUnchecked, check);
      return reduceLifetimes(result, home.now());
    },
    /** Ends the chain of a refresh token before its revocation, as `RefreshChains` says. */
    endAndTakeNewest: (token: OwnedRefreshToken): Promise<Refreshed | undefined> => chains.endAndTakeNewest(token),
  };
}
