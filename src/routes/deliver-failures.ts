import type { Middleware } from 'koa';
import type { Context, RequestState } from '../http/context.ts';
import type { FrontEnd } from '../login/login.ts';

/** Lets the front end's delivery answer the failures of everything that follows. */
export function deliverFailures({ delivery }: FrontEnd): Middleware<RequestState> {
  return (ctx: Context, next) => {
    ctx.state.answerFailure = (_, failure) => delivery.fail(ctx, failure, undefined);
    return next();
  };
}
