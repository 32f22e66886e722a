import type { Middleware } from 'koa';
import type { Context, RequestState } from '../http/context.ts';
import type { AnswerFailure } from '../http/error-responder.ts';
import { claimedQuery } from '../http/query.ts';
import type { Delivery, FrontEnds } from '../login/front-end.ts';
import { parseState } from '../login/state.ts';
import { findForPlainStart, frontEndInPath } from './select-front-end.ts';

/**
 * Lets a front end's delivery answer the failures of everything that follows, at a callback. Its state
 * claims what the login was started with. Nothing is proven: it only decides where a failure is shown.
 *
 * @param answerInPlace answers if that front end is gone. It also answers prefetches if the delivery redirects:
 *   browsers keep a prefetched redirect, and would show its error instead of the login
 */
export function deliverCallbackFailures(
  frontEnds: FrontEnds,
  answerInPlace: AnswerFailure,
): Middleware<RequestState> {
  return (ctx: Context, next) => {
    ctx.state.answerFailure = (_, failure) => {
      const delivery = claimedDelivery(ctx, frontEnds);
      const isKept = delivery?.redirects && failure.code === 'prefetch_refused';
      const answer = delivery === undefined || isKept ? answerInPlace : delivery.fail;
      answer(ctx, failure);
    };
    return next();
  };
}

/** Lets the popup of a CMS answer the failures of everything that follows, if a CMS starts the login. */
export function deliverCmsFailures(frontEnds: FrontEnds): Middleware<RequestState> {
  return (ctx: Context, next) => {
    const query = claimedQuery(ctx);
    const frontEnd = findForPlainStart(frontEnds, query, frontEndInPath(ctx.path));
    if (frontEnd?.cmsBackend !== undefined) {
      ctx.state.answerFailure = frontEnd.deliveryOf(undefined).fail;
    }
    return next();
  };
}

/** @returns undefined if the front end of the login is gone: the failure does not concern the others */
function claimedDelivery(ctx: Context, frontEnds: FrontEnds): Delivery | undefined {
  const received = claimedQuery(ctx)['state'];
  const claimed = typeof received === 'string' ? parseState(received)?.login : undefined;
  if (claimed === undefined) return frontEnds.byDefault.deliveryOf(undefined);
  const frontEnd = frontEnds.find(claimed.frontEnd);
  if (frontEnd === undefined) return undefined;
  ctx.state.frontEnd = frontEnd.name;
  return frontEnd.deliveryOf(claimed.request.oauth && claimed.request);
}
