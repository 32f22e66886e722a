import type { Middleware } from 'koa';
import type { Context, RequestState } from '../http/context.ts';
import type { Delivery, FrontEnds } from '../login/login.ts';
import { parseState } from '../login/state.ts';
import { parseQuery } from '../oauth/query.ts';

/**
 * Lets a front end's delivery answer the failures of everything that follows, at a callback. Its state
 * claims what the login was started with. Nothing is proven: it only decides where a failure is shown.
 */
export function deliverCallbackFailures(frontEnds: FrontEnds): Middleware<RequestState> {
  return (ctx: Context, next) => {
    ctx.state.answerFailure = (_, failure) => claimedDelivery(ctx, frontEnds).fail(ctx, failure);
    return next();
  };
}

function claimedDelivery(ctx: Context, frontEnds: FrontEnds): Delivery {
  const received = parseQuery(ctx.querystring)['state'];
  const claimed = typeof received === 'string' ? parseState(received)?.login : undefined;
  const frontEnd = claimed && frontEnds.find(claimed.frontEnd);
  if (claimed === undefined || frontEnd === undefined) {
    return frontEnds.byDefault.deliveryOf(undefined);
  }
  ctx.state.frontEnd = frontEnd.name;
  return frontEnd.deliveryOf(claimed.request.oauth && claimed.request);
}
