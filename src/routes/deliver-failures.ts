import type { Middleware } from 'koa';
import type { Context, RequestState } from '../http/context.ts';
import type { AnswerFailure } from '../http/error-responder.ts';
import type { Delivery, FrontEnds } from '../login/front-end.ts';
import { parseState } from '../login/state.ts';
import { parseQuery } from '../oauth/query.ts';
import { findForPlainStart, frontEndInPath } from './select-front-end.ts';

/**
 * Lets a front end's delivery answer the failures of everything that follows, at a callback. Its state
 * claims what the login was started with. Nothing is proven: it only decides where a failure is shown.
 *
 * @param answerInPlace answers prefetches if the delivery redirects: browsers keep a prefetched redirect,
 *   and would show its error instead of the login
 */
export function deliverCallbackFailures(
  frontEnds: FrontEnds,
  answerInPlace: AnswerFailure,
): Middleware<RequestState> {
  return (ctx: Context, next) => {
    ctx.state.answerFailure = (_, failure) => {
      const { redirects, fail } = claimedDelivery(ctx, frontEnds);
      const isKept = redirects && failure.code === 'prefetch_refused';
      (isKept ? answerInPlace : fail)(ctx, failure);
    };
    return next();
  };
}

/** Lets the popup of a CMS answer the failures of everything that follows, if a CMS starts the login. */
export function deliverCmsFailures(frontEnds: FrontEnds): Middleware<RequestState> {
  return (ctx: Context, next) => {
    const query = parseQuery(ctx.querystring);
    const frontEnd = findForPlainStart(frontEnds, query, frontEndInPath(ctx.path));
    if (frontEnd?.cmsBackend !== undefined) {
      ctx.state.answerFailure = frontEnd.deliveryOf(undefined).fail;
    }
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
