import type { LoginOptions, Session } from '../client.d.ts';
import { on } from './errors.ts';
import type { Keeper } from './keeper.ts';
import { ask, read } from './relay.ts';

/** Leaves the tokens to the relay, in a cookie that no script can read. */
export function keepCookie({ relay, clientId }: LoginOptions): Keeper {
  const header: [string, string] = ['X-Login-Relay', '1'];
  const init: RequestInit = { credentials: 'include' };
  const call = (method: string, path: string) =>
    ask(`${relay}/../${path}?client_id=${clientId}`, { ...init, method, headers: [header] }).then(
      read,
    );
  const renew = (session: Session | null): Promise<Session | null> =>
    (session ? call('POST', 'session/refresh') : call('GET', 'session'))
      .catch(on('session_missing', () => null))
      // Another tab may have logged in a moment ago: the next request tells.
      .catch(on('session_refused', () => session));

  return {
    start: async (_, returnTo) => ({ return_to: returnTo }),
    finish: () => renew(null),
    renew,
    end: async () => (await call('POST', 'logout')).url,
    header: () => header,
    init,
  };
}
