import type { Middleware } from 'koa';
import type { Delivery } from '../delivery/delivery.ts';
import type { RelayError } from '../errors.ts';
import { type Context, claimedQuery, type RequestState } from '../http/context.ts';
import { type AnswerFailure, answerProgram } from '../http/error-responder.ts';
import type { States } from '../login/state.ts';
import type { FrontEnds, Served } from './front-ends.ts';

/** Answers failures of everything that follows as OAuth clients read them. @see RFC 6749 §5.2 */
export const answerOAuthErrors = answerPrograms(({ oauthError: error, detail }) => {
  return { error, error_description: detail, detail };
});

/** Answers failures of everything that follows with their codes, for pages that tell them apart. */
export const answerSessionFailures = answerPrograms(({ code: error, detail }) => {
  return { error, detail };
});

function answerPrograms(bodyOf: (failure: RelayError) => object): Middleware<RequestState> {
  const answer: AnswerFailure = (ctx, failure) => answerProgram(ctx, failure, bodyOf(failure));
  return (ctx: Context, next) => {
    ctx.state.answerFailure = answer;
    return next();
  };
}

/**
 * Lets a front end's delivery answer the failures of everything that follows, at a callback. Its state
 * says what the login was started with, but not in which browser.
 */
export function deliverCallbackFailures({ frontEnds, states }: Served): Middleware<RequestState> {
  const { answerFailure, answerInPlace } = frontEnds.first;
  const deliver: AnswerFailure = (ctx, failure) => {
    const delivery = startedDelivery(ctx, frontEnds, states);
    // Browsers keep a prefetched redirect, and would show its error instead of the login.
    const isKept = delivery?.redirects && failure.code === 'prefetch_refused';
    const answer = isKept ? answerFailure : (delivery?.fail ?? answerInPlace);
    answer(ctx, failure);
  };
  return (ctx: Context, next) => {
    ctx.state.answerFailure = deliver;
    return next();
  };
}

/** Lets the popup of a CMS answer the failures of everything that follows, if a CMS starts the login. */
export function deliverCmsFailures(frontEnds: FrontEnds): Middleware<RequestState> {
  return (ctx: Context, next) => {
    const frontEnd = frontEnds.ofPlainStart(ctx);
    if (frontEnd?.cmsBackend !== undefined) {
      ctx.state.answerFailure = frontEnd.deliveryOf().fail;
    }
    return next();
  };
}

/** @returns undefined if the front end of the login is gone or not known: the failure does not concern the others */
function startedDelivery(ctx: Context, frontEnds: FrontEnds, states: States): Delivery | undefined {
  const { state } = claimedQuery(ctx);
  const login = states.peek(state);
  if (login === undefined) {
    const isOfDefault = state === undefined || frontEnds.isOnlyOne;
    return isOfDefault ? frontEnds.byDefault.deliveryOf() : undefined;
  }
  const frontEnd = frontEnds.ofLogin(login);
  if (frontEnd === undefined) return undefined;
  ctx.state.frontEnd = frontEnd.name;
  // Anybody could register an address for it: only the browser of the login goes there. @see RFC 9700 §4.11.2
  if (login.request.oauth?.client !== undefined) return undefined;
  // A page with a session gets its state only with failures, so that is no proof of a login.
  const isExpected = login.request.oauth !== undefined || frontEnd.tokenDelivery === 'session';
  return frontEnd.deliveryOf(isExpected ? login.request : undefined);
}
