import type { Middleware } from 'koa';
import type { RequestState } from './context.ts';

/** One middleware that runs several: composed once, not for each request. */
export function inOrder(
  ...middleware: readonly Middleware<RequestState>[]
): Middleware<RequestState> {
  return middleware.reduceRight((following, one) => (ctx, next) => {
    return one(ctx, async () => following(ctx, next));
  });
}
