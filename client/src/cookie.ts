import type { LoginOptions, Session } from '../client.d.ts';
import type { Keeper } from './keeper.ts';
import { ask } from './relay.ts';

/** Leaves the tokens to the relay, in a cookie that no script can read. */
export function keepCookie({ relay, clientId }: LoginOptions): Keeper {
  const header: [string, string] = ['X-Login-Relay', '1'];
  const init: RequestInit = { credentials: 'include' };
  const call = (method: string, path: string) =>
    ask(`${new URL(path, relay)}?client_id=${clientId}`, { ...init, method, headers: [header] });
  const end = async () => (await call('POST', 'logout')).url;
  const renew = (session: Session | null) =>
    (session ? call('POST', 'session/refresh') : call('GET', 'session')).catch(async (error) => {
      if (error.code !== 'logged_out') throw error;
      // Otherwise the next page would find the cookie.
      if (session) await end();
      return null;
    });

  return {
    start: async (_, returnTo) => ({ return_to: returnTo }),
    finish: () => renew(null),
    renew,
    end,
    header: () => header,
    init,
  };
}
