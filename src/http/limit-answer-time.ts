import type { Middleware } from 'koa';

/** Hangs up on a client that has stopped taking its answer for this many milliseconds. */
export function limitAnswerTime(milliseconds: number): Middleware {
  return async (ctx, next) => {
    await next();
    ctx.res.setTimeout(milliseconds);
  };
}
