import type { LoginOptions } from '../client.d.ts';
import { on } from './errors.ts';
import type { Keeper, Known } from './keeper.ts';
import { ask, read } from './relay.ts';

/** Leaves the tokens to the relay, in a cookie that no script can read. */
export function keepCookie({ relay, clientId }: LoginOptions): Keeper {
  const init: RequestInit = { credentials: 'include' };
  const header = ['X-Login-Relay', '1'] as const;
  const call = (method: string, path: string, also = '') =>
    ask(`${relay}/../${path}?client_id=${clientId}${also}`, {
      ...init,
      method,
      headers: [[...header]],
    }).then(read);
  const look = (): Promise<Known> => call('GET', 'session');
  const refresh = (): Promise<Known> => call('POST', 'session/refresh');
  const forget = () => call('POST', 'logout', '&revoke=false').then(() => null);

  return {
    start: async (_, returnTo) => ({ return_to: returnTo }),
    finish: look,
    restore: async (_, isRefused) =>
      isRefused
        ? undefined
        : look()
            .catch(on('session_missing', () => null))
            .catch(on('session_refused')),
    refresh: () =>
      refresh()
        // Another tab may have logged in a moment ago: then the cookie is a new one.
        .catch(on('session_refused', refresh))
        .catch(on('session_refused', forget))
        .catch(on('session_missing', () => null)),
    forget,
    end: async () => (await call('POST', 'logout')).url,
    fetch: (request) => {
      request.headers.set(...header);
      return fetch(request, init);
    },
  };
}
