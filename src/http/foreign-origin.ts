import type { Middleware } from 'koa';

/** Reports the `Origin` of each request from another origin than the front end's. */
export function reportForeignOrigin(
  frontEnd: string,
  report: (origin: string) => void,
): Middleware {
  return (ctx, next) => {
    const { origin } = ctx.req.headers;
    if (origin !== undefined && origin !== frontEnd) report(origin);
    return next();
  };
}
