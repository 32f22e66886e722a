import type { Next } from 'koa';
import { RelayError } from '../errors.ts';
import type { Context } from './context.ts';
import { redirect } from './redirect.ts';
import { stackFrames } from './stack-frames.ts';

/**
 * The one catch: answers every failure as JSON, `{ "detail": … }`, or takes it to the front end
 * where the route asked for that.
 */
export async function errorResponder(ctx: Context, next: Next): Promise<void> {
  try {
    await next();
  } catch (error) {
    const failure = error instanceof RelayError ? error : new RelayError('internal_error');
    if (failure !== error) ctx.state.stack = stackFrames(error);
    ctx.state.failure = failure.code;
    if (ctx.state.failureTarget) {
      redirect(ctx, ctx.state.failureTarget(failure));
      return;
    }
    ctx.set(failure.headers);
    ctx.status = failure.status;
    ctx.body = { detail: failure.detail };
  }
}
