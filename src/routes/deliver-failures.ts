import type { Middleware } from 'koa';
import type { Context, RequestState } from '../http/context.ts';
import type { FrontEnd, FrontEndRequest } from '../login/login.ts';
import { parseState } from '../login/state.ts';
import { parseQuery } from '../oauth/query.ts';

/** Lets the front end's delivery answer the failures of everything that follows, at the start of a login. */
export function deliverFailures(frontEnd: FrontEnd): Middleware<RequestState> {
  const { fail } = frontEnd.deliveryOf(undefined);
  return (ctx: Context, next) => {
    ctx.state.answerFailure = fail;
    return next();
  };
}

/** The same for a callback, whose state claims what its login was started with. */
export function deliverCallbackFailures(frontEnd: FrontEnd): Middleware<RequestState> {
  return (ctx: Context, next) => {
    ctx.state.answerFailure = (_, failure) =>
      frontEnd.deliveryOf(claimedRequest(ctx, frontEnd)).fail(ctx, failure);
    return next();
  };
}

/**
 * The OAuth request that the state of a callback claims. Nothing is proven: it only decides where a
 * failure is shown.
 */
function claimedRequest(ctx: Context, { name }: FrontEnd): FrontEndRequest | undefined {
  const received = parseQuery(ctx.querystring)['state'];
  const claimed = typeof received === 'string' ? parseState(received)?.login : undefined;
  return claimed?.frontEnd === name && claimed.request.oauth ? claimed.request : undefined;
}
