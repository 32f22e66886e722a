import type { Next } from 'koa';
import type { Config } from '../config/config.ts';
import type { Context } from '../http/context.ts';
import { answerSessionFailures } from '../http/error-responder.ts';
import { callersBehind } from '../http/subscriber.ts';
import { matches } from '../origins/origin-pattern.ts';
import { proxyApi } from '../routes/api-proxy.ts';
import type { SessionRequests } from '../routes/session-requests.ts';
import { createHandler, type EndpointContext } from './endpoint.ts';

/** Creates the paths that lead to provider APIs. @returns undefined if there are none */
export function createApiPaths(
  { frontEnds, baseUrl, trustedProxies, behindUnknownProxy }: Config,
  requests: SessionRequests | undefined,
  context: EndpointContext,
) {
  if (requests === undefined) return undefined;
  const { subscriberUnlessProxy } = callersBehind(trustedProxies, behindUnknownProxy);
  const apiPaths = frontEnds.flatMap(({ name, origin, apis }) =>
    apis.map(({ url, ...api }) => ({
      path: api.path,
      handle: createHandler(
        {
          path: api.path,
          // The name of all APIs in the log and in metrics.
          route: 'proxy',
          action: 'proxy',
          methods: api.methods,
          readers: { hasOrigin: (given) => matches(origin, given) },
          failures: answerSessionFailures,
          isLimited: true,
          handle: proxyApi({ ...api, url: new URL(url), frontEnd: name }, requests, subscriberUnlessProxy, baseUrl),
        },
        context,
      ),
    })),
  );
  if (apiPaths.length === 0) return undefined;
  const find = createPathFinder(apiPaths);

  return {
    has: (path: string): boolean => find(path) !== undefined,
    /** Passes a request below one of the paths to its API. */
    route(ctx: Context, next: Next): unknown {
      const found = find(ctx.path);
      return found === undefined ? next() : found.handle(ctx, next);
    },
  };
}

/**
 * Creates a finder for the entry that contains a path. An entry with a final slash does not contain its own path. The
 * time grows with the slashes of the path, not with the number of entries.
 */
export function createPathFinder<Found extends { readonly path: string }>(all: readonly Found[]) {
  const byPath = new Map(all.map((one) => [one.path, one]));
  const longest = Math.max(...all.map(({ path }) => path.length));
  return (path: string): Found | undefined => {
    const part = path.slice(0, longest + 1);
    for (let end = part.indexOf('/'); end >= 0; end = part.indexOf('/', end + 1)) {
      const found = byPath.get(part.slice(0, end)) ?? byPath.get(part.slice(0, end + 1));
      if (found !== undefined) return found;
    }
    return byPath.get(path);
  };
}
