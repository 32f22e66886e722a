import { RelayError } from '../errors.ts';
import type { Home } from '../memory/home.ts';
import { nameOf } from '../memory/shared.ts';
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

const kind = 'k';
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
 * refresh tokens takes the earlier one no more. So an outage of what the check asks ends no login. Relays with a
 * shared memory keep them for each other.
 */
export function keepRefreshes(refreshes: Refreshes, home: Home) {
  const { now, shared } = home;
  const waiting = createRecent<Kept>(hour, most, now);
  /** Those that have passed at last, for pages that did not get the response. */
  const passed = createRecent<Kept>(minute, most, now);

  const here = (key: string): Kept | undefined => waiting.get(key) ?? passed.get(key);

  /** Also what another relay has kept. */
  async function find(key: string): Promise<Kept | undefined> {
    const known = here(key);
    const found = known === undefined ? await shared?.peek(kind, key, hour) : undefined;
    if (found === undefined || found === 'locked') return known;
    const { scope, response } = found.left;
    if (response?.refreshToken === undefined) return undefined;
    const { refreshToken } = response;
    return { scope, response: { ...response, refreshToken }, at: now() - found.age };
  }

  /** The next refresh may reach another relay. */
  async function share(key: string, { scope, response }: Kept): Promise<void> {
    const leave = { call: async () => ({ scope, response }), isAnswer: () => false };
    const keep = () => ({ lifetime: hour, always: false });
    await shared?.lead(kind, key, { ...leave, keep }).catch(() => {});
  }

  async function forget(key: string, isShared: boolean): Promise<void> {
    waiting.delete(key);
    if (isShared) await shared?.run(['DEL', nameOf(kind, key)]);
  }

  /** Whether a result still has a token, for the same scope, that its provider has not refused. */
  const isUsable = (kept: Kept, scope: string | undefined): boolean =>
    !kept.isSpent && kept.scope === scope && aged(kept, now()).expiresIn !== 0;

  return {
    /**
     * Refreshes as {@link Refreshes} does.
     *
     * @param check undefined: there is none. Otherwise, whether the result may leave the relay. A `RelayError`
     *   `access_refused` is final. After any other failure, the next refresh only repeats the check
     */
    async join(
      refresh: FrontEndRefresh,
      call: CallProvider,
      isGood: IsGood | undefined,
      check: ((refreshed: Refreshed) => Promise<void>) | undefined,
    ): Promise<Refreshed> {
      const key = keyOfRefresh(refresh);
      const known = check ? await find(key) : here(key);
      if (check === undefined && known === undefined) {
        return await refreshes.join(refresh, call, isGood);
      }
      const isHeld = known !== undefined && known !== passed.get(key);
      const { scope } = refresh;
      const refreshToken = known?.response.refreshToken ?? refresh.refreshToken;
      const newest = { ...refresh, refreshToken };
      const ended =
        known && isUsable(known, scope)
          ? known
          : { scope, response: await refreshes.join(newest, call, isGood), at: now() };
      // Before the check: it may take longer than a rotation is remembered.
      waiting.set(key, ended);
      try {
        await check?.(ended.response);
      } catch (error) {
        const code = error instanceof RelayError ? error.code : undefined;
        // A logout may have taken it.
        const isHere = waiting.get(key) === ended;
        if (code === 'access_refused') await forget(key, isHeld);
        else if (code === 'token_invalid' && isHere) waiting.set(key, { ...ended, isSpent: true });
        else if (isHere && ended !== known) await share(key, ended);
        throw error;
      }
      const isHere = waiting.get(key) === ended;
      await forget(key, isHeld);
      if (isHeld && isHere) passed.set(key, ended);
      return aged(ended, now());
    },
    /** Gives the newest token to be revoked, as {@link Refreshes} does. */
    async end(token: RefreshTokenOwner): Promise<Refreshed | undefined> {
      const key = keyOfRefresh(token);
      const known = await find(key);
      await forget(key, known !== undefined);
      passed.delete(key);
      if (known === undefined) return await refreshes.end(token);
      const { refreshToken } = known.response;
      return (await refreshes.end({ ...token, refreshToken })) ?? known.response;
    },
  };
}
