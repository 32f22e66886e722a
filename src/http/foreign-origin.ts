import type { Middleware } from 'koa';
import { type OriginPattern, originLookup } from '../origins/origin-pattern.ts';

/** Reports the `Origin` of each request from another origin than those of front ends. */
export function reportForeignOrigin(
  frontEnds: Iterable<OriginPattern>,
  report: (origin: string) => void,
): Middleware {
  const knownOrigin = originLookup(frontEnds);
  return (ctx, next) => {
    const { origin } = ctx.req.headers;
    if (origin !== undefined && knownOrigin(origin) === undefined) report(origin);
    return next();
  };
}
