import type { Middleware, Next } from 'koa';
import type { Config } from '../config/config.ts';
import { clientsBehind } from '../http/client-address.ts';
import { type Context, inOrder, type RequestState } from '../http/context.ts';
import { answerSessionFailures } from '../http/error-responder.ts';
import { allow } from '../http/request-guards.ts';
import { matches } from '../origins/origin-pattern.ts';
import { proxyApi } from '../routes/api-proxy.ts';
import type { SessionAccess } from '../routes/session-access.ts';

const routeName = 'proxy';

interface ApiPath {
  readonly hasOrigin: (origin: string) => boolean;
  readonly handle: Middleware<RequestState>;
}

/**
 * Creates the paths that lead to the APIs of providers. The time to find one does not grow with their number.
 *
 * @returns undefined if there are none
 */
export function createApiPaths(
  { frontEnds, baseUrl, trustedProxies, behindUnknownProxy }: Config,
  access: SessionAccess | undefined,
  limited: readonly Middleware[],
) {
  if (access === undefined) return undefined;
  const { ownKeyOf } = clientsBehind(trustedProxies, behindUnknownProxy);
  const byPath = new Map<string, ApiPath>();
  for (const { name, origin, apis } of frontEnds) {
    for (const { url, ...api } of apis) {
      const { path, methods } = api;
      const handle = inOrder(
        answerSessionFailures,
        allow(...methods),
        ...limited,
        proxyApi({ ...api, url: new URL(url), frontEnd: name }, access, ownKeyOf, baseUrl),
      );
      byPath.set(path, { hasOrigin: (given) => matches(origin, given), handle });
    }
  }
  if (byPath.size === 0) return undefined;
  const longest = Math.max(...[...byPath.keys()].map(({ length }) => length));

  /** Who may read a path; undefined if it leads to no API. */
  function find(path: string): ApiPath | undefined {
    const within = path.slice(0, longest);
    for (let end = within.indexOf('/', 1); end > 0; end = within.indexOf('/', end + 1)) {
      const found = byPath.get(within.slice(0, end + 1));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  return {
    find,
    /** Passes a request below one of the paths to its API. */
    route(ctx: Context, next: Next): unknown {
      const found = find(ctx.path);
      if (found === undefined) return next();
      ctx.state.route = routeName;
      return found.handle(ctx, next);
    },
  };
}
