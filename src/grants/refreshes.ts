import { isFailure } from '../failures/relay-error.ts';
import type { Home } from '../memory/home.ts';
import { type CallProvider, type FrontEndRefresh, RefreshChains } from './refresh-chain.ts';
import { createRefreshCount } from './refresh-count.ts';
import {
  aged,
  type IsGood,
  keyOfRefresh,
  type Refreshed,
  type RefreshResult,
  type RefreshTokenOwner,
  resultTime,
} from './refresh-results.ts';

/** Refreshes of one login in ten minutes, with or without a call: twenty tabs need one each. */
const mostRefreshes = 600;

type Check = (refreshed: Refreshed) => Promise<void>;

/** The refreshes of this process that are in flight, or whose results are remembered. */
export type Refreshes = ReturnType<typeof createRefreshes>;

/** @see RFC 6749 §6, RFC 9700 §4.14.2 */
export function createRefreshes(home: Home) {
  const chains = new RefreshChains(home);
  const { unchecked, keepUnchecked, rotations } = chains.results;

  /**
   * Checks a result. Until it has passed, it is kept as unchecked.
   *
   * @param wasUnchecked whether it has not passed before
   * @throws {RelayError} why the check failed
   */
  async function settle(
    refresh: FrontEndRefresh,
    ended: RefreshResult,
    wasUnchecked: boolean,
    check?: Check,
  ) {
    const key = keyOfRefresh(refresh);
    // Before the check: it may take longer than a rotation is remembered.
    keepUnchecked(refresh, ended);
    // A logout may take it.
    const isStillUnchecked = () => unchecked.get(key) === ended;
    const isRotated = ended.response.refreshToken !== refresh.refreshToken;
    try {
      await check?.(ended.response);
    } catch (error) {
      if (isFailure(error, 'access_refused')) await chains.forget(key);
      else if (isStillUnchecked()) {
        if (isFailure(error, 'token_invalid')) keepUnchecked(refresh, { ...ended, isSpent: true });
        // The next refresh may reach another relay.
        if (isRotated) await chains.share(key, ended);
      }
      throw error;
    }
    if (!isStillUnchecked()) return;
    unchecked.delete(key);
    if (!wasUnchecked || !isRotated) return;
    // For pages that did not get the response.
    rotations.set(key, ended, resultTime, refresh.login);
    await chains.share(key, ended, 'passed');
  }

  return {
    /** Counts a refresh of a login, with or without a call. @throws {RelayError} `rate_limited` */
    count: createRefreshCount(mostRefreshes, home.now),
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
     * - A result that does not settle its check is kept for an hour. The next refresh only repeats the check.
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
      check?: Check,
    ): Promise<Refreshed> {
      const ended = await chains.newest(refresh, call, isGood);
      const wasUnchecked = unchecked.get(keyOfRefresh(refresh)) !== undefined;
      // Without a check now, as after a reload, an unchecked result has passed.
      if (check !== undefined || wasUnchecked) await settle(refresh, ended, wasUnchecked, check);
      return aged(ended, home.now());
    },
    /**
     * Gives the newest token that replaced a refresh token, as long as that is remembered, to be revoked. Its result is
     * no longer repeated. Waits for a refresh in flight.
     *
     * @returns undefined if the refresh token was not rotated
     */
    end: (token: RefreshTokenOwner): Promise<Refreshed | undefined> => chains.end(token),
  };
}
