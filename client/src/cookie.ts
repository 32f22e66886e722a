import type { LoginOptions } from '../client.d.ts';
import { on } from './errors.ts';
import { endOf, type Keeper, type Known } from './keeper.ts';
import { ask, read } from './relay.ts';

/**
 * Leaves the tokens to the relay, in a cookie that no script can read. The endpoints of sessions are beside the path of
 * the registration (`relay`), because all registrations share them.
 */
export function keepCookie({ relay, clientId }: LoginOptions): Keeper {
  const init: RequestInit = { credentials: 'include' };
  // The relay refuses requests with the cookie that lack this header, because forms and links of other sites cannot set
  // it.
  const header = ['X-Login-Relay', '1'] as const;
  /**
   * Sends a request for the session to the relay.
   *
   * @param path below `/auth/`, with the beginning of its query
   * @throws {LoginError}
   */
  const call = (method: string, path: string) =>
    ask(`${relay}/../${path}client_id=${clientId}`, {
      ...init,
      method,
      headers: [[...header]],
    }).then(read);
  const describe = async (method: string, path: string, user?: unknown): Promise<Known> => {
    const { provider, expires_in, renewable: _, ...fields } = await call(method, path);
    return { provider, fields, user, until: Infinity, expiresAt: endOf(expires_in) } as Known;
  };
  const look = () => describe('GET', 'session?');
  const forget = () => call('POST', 'logout?revoke=false&').then(() => null);

  return {
    start: async (_, returnTo) => ({ return_to: returnTo }),
    finish: look,
    restore: async (_, isRefused) =>
      isRefused
        ? undefined
        : look()
            .catch(on(/session_missing/, () => null))
            .catch(on(/session_refused/)),
    refresh(session) {
      const refresh = () => describe('POST', 'session/refresh?', session?.user);
      return (
        refresh()
          // Another tab may have logged in a moment ago, and then the cookie is new.
          .catch(on(/session_refused/, refresh))
          .catch(on(/session_refused/, forget))
          .catch(on(/session_missing/, () => null))
      );
    },
    forget,
    end: async () => (await call('POST', 'logout?')).url,
    fetch: (request) => {
      request.headers.set(...header);
      return fetch(request, init);
    },
  };
}
