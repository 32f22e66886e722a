import type { Context } from '../http/context.ts';
import { limits } from '../limits.ts';
import { parseState } from '../login/state.ts';
import { isOAuthRequest } from '../oauth/front-end-request.ts';
import { parseQuery, withParameters } from '../oauth/query.ts';

/**
 * The address that starts the login of a failed request again: the start of a login, with the front
 * end's own state if the request carries one. A front end that compares its state ignores a login
 * that comes back without it. The login of a session returns to the same page.
 *
 * The state is not proven, and need not be: any link to the start of a login may carry any state.
 *
 * @param route the route that failed, or undefined if none matched
 * @param loginRoute the route that starts a login
 * @param loginUrl the public address that starts the front end's login
 * @returns undefined if the login is an OAuth login: only the front end can start it again, with a new
 *   challenge
 */
export function loginAgainUrl(
  ctx: Context,
  route: string | undefined,
  loginRoute: string,
  loginUrl: string,
): string | undefined {
  // Without a route, the target may not even be a URL.
  if (route === undefined) return loginUrl;
  const query = parseQuery(ctx.querystring);
  const received = query['state'];
  const isStart = route === loginRoute || route === `${loginRoute}/:frontEnd`;
  if (isStart && isOAuthRequest(query)) return undefined;
  if (typeof received !== 'string') return loginUrl;
  const claimed = isStart ? undefined : parseState(received)?.login.request;
  if (claimed?.oauth !== undefined) return undefined;
  if (claimed?.returnTo !== undefined) {
    return withParameters(loginUrl, { return_to: claimed.returnTo });
  }
  const state = isStart ? received : claimed?.state;
  const usable = state?.isWellFormed() && [...state].length <= limits.frontEndStateLength;
  return state && usable ? withParameters(loginUrl, { state }) : loginUrl;
}
