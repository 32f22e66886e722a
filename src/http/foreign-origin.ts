import type { Middleware } from 'koa';

/** Reports the `Origin` of each request that does not come from a front end. */
export function reportForeignOrigin(
  isFrontEnd: (origin: string) => boolean,
  report: (origin: string) => void,
): Middleware {
  return (ctx, next) => {
    const { origin } = ctx.req.headers;
    if (origin !== undefined && !isFrontEnd(origin)) report(origin);
    return next();
  };
}
