import type { LoginOptions, Session } from '../client.d.ts';
import { on } from './errors.ts';
import type { Keeper } from './keeper.ts';
import { ask, read } from './relay.ts';

/** Leaves the tokens to the relay, in a cookie that no script can read. */
export function keepCookie({ relay, clientId }: LoginOptions): Keeper {
  const header: [string, string] = ['X-Login-Relay', '1'];
  const init: RequestInit = { credentials: 'include' };
  const call = (method: string, path: string, also = '') =>
    ask(`${relay}/../${path}?client_id=${clientId}${also}`, {
      ...init,
      method,
      headers: [header],
    }).then(read);
  const refresh = () => call('POST', 'session/refresh');
  const forget = () => call('POST', 'logout', '&revoke=false').then(() => null);
  const renew = (session: Session | null): Promise<Session | null> =>
    (session ? refresh() : call('GET', 'session'))
      // Another tab may have logged in a moment ago: then the cookie is a new one.
      .catch(on('session_refused', refresh))
      .catch(on('session_refused', forget))
      .catch(on('session_missing', () => null));

  return {
    start: async (_, returnTo) => ({ return_to: returnTo }),
    finish: () => renew(null),
    renew,
    forget,
    end: async () => (await call('POST', 'logout')).url,
    header: () => header,
    init,
  };
}
