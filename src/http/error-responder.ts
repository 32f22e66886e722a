import type { Middleware } from 'koa';
import { RelayError } from '../errors.ts';
import type { Context, RequestState } from './context.ts';
import { redirect } from './redirect.ts';
import { stackFrames } from './stack-frames.ts';

/** Writes the body of a failure. The response has its status and headers already. */
export type AnswerFailure = (ctx: Context, failure: RelayError) => void;

/** The contract's answer: JSON, `{ "detail": … }`. */
export const answerJson: AnswerFailure = (ctx, { detail }) => {
  ctx.body = { detail };
};

/**
 * The one catch: answers every failure, or takes it to the front end if the route asked for that.
 *
 * @param answer writes the body
 */
export function errorResponder(answer: AnswerFailure): Middleware<RequestState> {
  return async (ctx: Context, next) => {
    try {
      await next();
    } catch (error) {
      const known = error instanceof RelayError ? error : new RelayError('internal_error');
      if (known !== error) ctx.state.stack = stackFrames(error);
      const failure = ctx.state.codeMayBeSpent ? known.onceSpent() : known;
      ctx.state.failure = failure.code;
      ctx.state.providerError = failure.providerError;
      if (ctx.state.failureTarget) {
        redirect(ctx, ctx.state.failureTarget(failure));
        return;
      }
      ctx.set(failure.headers);
      ctx.status = failure.status;
      answer(ctx, failure);
    }
  };
}
