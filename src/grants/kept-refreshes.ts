import { RelayError } from '../errors.ts';
import type { Home } from '../memory/home.ts';
import { createRecent } from '../recent.ts';
import {
  aged,
  type CallProvider,
  type Ended,
  type FrontEndRefresh,
  type IsGood,
  keyOfRefresh,
  type Refreshed,
  type Refreshes,
  type RefreshTokenOwner,
} from './refreshes.ts';

const hour = 3_600_000;
const minute = 60_000;
const most = 4096;

/** What a refresh gave that did not pass its check yet. */
interface Kept extends Ended {
  /** Whether the provider does not know the access token any more: its refresh token has to be used. */
  readonly isSpent?: boolean;
}

/** Refreshes whose results pass a check before anybody gets them. */
export type KeptRefreshes = ReturnType<typeof keepRefreshes>;

/**
 * Keeps the last 4096 results at most that have not passed their check, each for an hour: a provider that rotates
 * refresh tokens takes the earlier one no more. So an outage of what the check asks ends no login.
 */
export function keepRefreshes(refreshes: Refreshes, { now }: Home) {
  const waiting = createRecent<Kept>(hour, most, now);
  /** Those that have passed at last, for pages that did not get the response. */
  const passed = createRecent<Kept>(minute, most, now);

  async function refreshed(
    refresh: FrontEndRefresh,
    known: Kept | undefined,
    call: CallProvider,
    isGood: IsGood | undefined,
  ): Promise<Kept> {
    const { scope, refreshToken } = refresh;
    if (known?.isSpent === false && known.scope === scope && !isOver(known)) return known;
    const newest = { ...refresh, refreshToken: known?.response.refreshToken ?? refreshToken };
    return {
      scope,
      response: await refreshes.join(newest, call, isGood),
      at: now(),
      isSpent: false,
    };
  }

  function isOver(ended: Ended): boolean {
    const { expiresIn = 1 } = aged(ended, now());
    return expiresIn <= 0;
  }

  return {
    /**
     * Refreshes as {@link Refreshes} does.
     *
     * @param check undefined: there is none. Otherwise, whether the result may leave the relay. A `RelayError` `access_refused` is final. After any other
     *   failure, the next refresh with the same refresh token only repeats the check
     */
    async join(
      refresh: FrontEndRefresh,
      call: CallProvider,
      isGood: IsGood | undefined,
      check: ((refreshed: Refreshed) => Promise<void>) | undefined,
    ): Promise<Refreshed> {
      const key = keyOfRefresh(refresh);
      const held = waiting.get(key);
      const known = held ?? passed.get(key);
      if (check === undefined && known === undefined) {
        return await refreshes.join(refresh, call, isGood);
      }
      const ended = await refreshed(refresh, known, call, isGood);
      // Before the check: it may take longer than a rotation is remembered.
      waiting.set(key, ended);
      try {
        await check?.(ended.response);
      } catch (error) {
        const code = error instanceof RelayError ? error.code : undefined;
        if (code === 'access_refused') waiting.delete(key);
        // A logout may have taken it.
        else if (code === 'token_invalid' && waiting.get(key) === ended)
          waiting.set(key, { ...ended, isSpent: true });
        throw error;
      }
      if (held !== undefined && waiting.get(key) === ended) passed.set(key, ended);
      waiting.delete(key);
      return aged(ended, now());
    },
    /** Gives the newest token to be revoked, as {@link Refreshes} does. */
    async end(token: RefreshTokenOwner): Promise<Refreshed | undefined> {
      const key = keyOfRefresh(token);
      const known = waiting.get(key) ?? passed.get(key);
      waiting.delete(key);
      passed.delete(key);
      if (known === undefined) return await refreshes.end(token);
      const { refreshToken } = known.response;
      return (await refreshes.end({ ...token, refreshToken })) ?? known.response;
    },
  };
}
