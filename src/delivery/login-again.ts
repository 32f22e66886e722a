import type { Context } from '../http/context.ts';
import { limits } from '../limits.ts';
import { parseState } from '../login/state.ts';
import { parseQuery, withParameters } from '../oauth/query.ts';

/**
 * The address that starts the login of a failed request again: the start of a login, with the front
 * end's own state if the request carries one. A front end that compares its state ignores a login
 * that comes back without it.
 *
 * The state is not proven, and need not be: any link to the start of a login may carry any state.
 *
 * @param route the route that failed, or undefined if none matched
 * @param loginRoute the route that starts a login
 * @param loginUrl its public address
 */
export function loginAgainUrl(
  ctx: Context,
  route: string | undefined,
  loginRoute: string,
  loginUrl: string,
): string {
  // Without a route, the target may not even be a URL.
  const received = route === undefined ? undefined : parseQuery(ctx.querystring)['state'];
  if (typeof received !== 'string') return loginUrl;
  const state = route === loginRoute ? received : parseState(received)?.login.request.state;
  const usable = state?.isWellFormed() && [...state].length <= limits.frontEndStateLength;
  return state && usable ? withParameters(loginUrl, { state }) : loginUrl;
}
