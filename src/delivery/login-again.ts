import type { Context } from '../http/context.ts';
import { claimedQuery } from '../http/query.ts';
import { limits } from '../limits.ts';
import type { FrontEndRequest } from '../login/front-end.ts';
import type { States } from '../login/state.ts';
import { isOAuthRequest } from '../oauth/front-end-request.ts';
import { type Query, withParameters } from '../oauth/query.ts';

/**
 * The address that starts the login of a failed request again: the start of a login, with the front
 * end's own state, or the page that a session returns to, if the request carries one. A front end that
 * compares its state ignores a login that comes back without it.
 *
 * The browser is not proven, and need not be: any link to the start of a login may carry any of them.
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
  states: States,
): string | undefined {
  // Without a route, the target may not even be a URL.
  if (route === undefined) return loginUrl;
  const query = claimedQuery(ctx);
  const isStart = route === loginRoute || route === `${loginRoute}/:frontEnd`;
  if (isStart && isOAuthRequest(query)) return undefined;
  const request = isStart ? requestOfStart(ctx, query) : states.peek(query['state'])?.request;
  if (request?.oauth !== undefined) return undefined;
  const { state, returnTo } = request ?? {};
  const parameters = {
    ...(isUsable(state, limits.frontEndStateLength) && { state }),
    ...(isUsable(returnTo, limits.returnToLength) && { return_to: returnTo }),
  };
  return Object.keys(parameters).length === 0 ? loginUrl : withParameters(loginUrl, parameters);
}

function requestOfStart(ctx: Context, query: Query): FrontEndRequest {
  const { state, return_to } = query;
  // Otherwise the link would fail for the same reason.
  const isRefused = ctx.state.failure === 'return_to_invalid';
  return {
    state: typeof state === 'string' ? state : undefined,
    returnTo: typeof return_to === 'string' && !isRefused ? return_to : undefined,
  };
}

function isUsable(text: string | undefined, longest: number): text is string {
  return text !== undefined && text !== '' && text.isWellFormed() && [...text].length <= longest;
}
