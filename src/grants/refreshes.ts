import { isFailure } from '../failures/relay-error.ts';
import type { Home } from '../memory/home.ts';
import { createCount } from './limit-per-grant.ts';
import { type CallProvider, type FrontEndRefresh, RefreshChains } from './refresh-chain.ts';
import {
  aged,
  hashRefresh,
  type IsGood,
  type RefreshResult,
  type RefreshTokenOwner,
  resultTime,
} from './refresh-results.ts';
import type { Refreshed } from './refresh-tokens.ts';

/** Refreshes of one login in ten minutes, with or without a call. Twenty tabs need one each. */
const mostRefreshes = 600;
/**
 * Calls to the provider for one login in ten minutes. Each other scope needs one, and so does each short-lived token.
 */
const mostCalls = 60;
const tooMany = 'This login is refreshed too often. Nothing is lost: try again in ten minutes.';

type Check = (refreshed: Refreshed) => Promise<void>;

export type Refreshes = ReturnType<typeof createRefreshes>;

/** @see RFC 6749 §6, RFC 9700 §4.14.2 */
export function createRefreshes(home: Home) {
  const chains = new RefreshChains(home);
  const { unchecked, keepUnchecked, rotations } = chains.results;
  const countCall = createCount(mostCalls, tooMany, home.now);

  /**
   * Checks a result, and keeps it as unchecked until it has passed.
   *
   * @param wasUnchecked whether an earlier request got the result, but could not check it
   * @throws {RelayError} why the check failed
   */
  async function settle(refresh: FrontEndRefresh, result: RefreshResult, wasUnchecked: boolean, check?: Check) {
    const key = hashRefresh(refresh);
    // Keep it before the check, which may take longer than a rotation is remembered.
    keepUnchecked(refresh, result);
    // A logout may have dropped it, or another request may have checked it.
    const isStillUnchecked = () => unchecked.get(key) === result;
    const isRotated = result.response.refreshToken !== refresh.refreshToken;
    try {
      await check?.(result.response);
    } catch (error) {
      if (isFailure(error, 'access_refused')) await chains.forget(key);
      else if (isStillUnchecked()) {
        if (isFailure(error, 'token_invalid')) keepUnchecked(refresh, { ...result, isSpent: true });
        // The next refresh may come to another relay.
        if (isRotated) await chains.share(key, result);
      }
      throw error;
    }
    if (!isStillUnchecked()) return;
    unchecked.delete(key);
    if (!wasUnchecked || !isRotated) return;
    // The rotation may be forgotten by now, but pages that did not get the response still need it.
    rotations.set(key, result, resultTime, refresh.login);
    await chains.share(key, result, 'passed');
  }

  return {
    /** Counts a refresh, with or without a call. @throws {RelayError} `rate_limited` */
    count: createCount(mostRefreshes, tooMany, home.now),
    /**
     * Refreshes once for all requests with the same refresh token, such as those of twenty tabs, or of a page that did
     * not get the response. A provider that rotates refresh tokens takes a second use for theft, and ends the login.
     *
     * - While a call is in flight, all requests get its result or its error.
     * - If the provider rotated the refresh token, the replaced one gets the newest result of the chain for 60 seconds.
     *   The newest one gets it for 30 seconds, and only while the access token is valid for another minute.
     * - If the newest result has another scope, the newest refresh token is refreshed.
     * - A result that could not be checked is kept for an hour. The next refresh only repeats the check.
     * - A login has at most 60 calls in ten minutes.
     *
     * @param refresh from a caller that has proved its key
     * @param call must continue if its caller closes the connection
     * @param check whether the result may leave the relay. `access_refused` is final
     * @throws {RelayError} `rate_limited`, or why the call or the check failed
     */
    async join(
      refresh: FrontEndRefresh,
      call: CallProvider,
      isGood: IsGood = () => true,
      check?: Check,
    ): Promise<Refreshed> {
      const countedCall: CallProvider = async (grant) => {
        countCall(refresh.login);
        return await call(grant);
      };
      const result = await chains.newest(refresh, countedCall, isGood);
      const wasUnchecked = unchecked.get(hashRefresh(refresh)) !== undefined;
      // If nothing has to be checked any more, for example after a reload, an unchecked result has passed.
      if (check !== undefined || wasUnchecked) await settle(refresh, result, wasUnchecked, check);
      return aged(result, home.now());
    },
    /** Ends the chain of a refresh token before its revocation. @see RefreshChains */
    endAndTakeNewest: (token: RefreshTokenOwner): Promise<Refreshed | undefined> => chains.endAndTakeNewest(token),
  };
}
