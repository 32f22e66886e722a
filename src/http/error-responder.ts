import type { Middleware } from 'koa';
import { RelayError } from '../errors.ts';
import type { Context, RequestState } from './context.ts';
import { stackFrames } from './stack-frames.ts';

/** Answers a failure: status, headers and body. */
export type AnswerFailure = (ctx: Context, failure: RelayError) => void;

/** The contract's answer to a failure: JSON, `{ "detail": … }`. */
export const answerJson: AnswerFailure = (ctx, failure) => {
  answerWith(ctx, failure, { detail: failure.detail });
};

/** Answers a failure with this body. */
export function answerWith(
  ctx: Context,
  { headers, status }: RelayError,
  body: string | object,
): void {
  ctx.set(headers);
  ctx.status = status;
  ctx.body = body;
}

/**
 * Catches every error of a request and answers it, in one place.
 *
 * @param answer used unless the route has set `answerFailure`
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
      (ctx.state.answerFailure ?? answer)(ctx, failure);
    }
  };
}
