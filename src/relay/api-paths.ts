import type { Next } from 'koa';
import type { Config } from '../config/config.ts';
import { createClientAddresses } from '../http/client-address.ts';
import type { Context } from '../http/context.ts';
import { answerSessionFailures } from '../http/error-responder.ts';
import { matches } from '../origins/origin-pattern.ts';
import { proxyApi } from '../routes/api-proxy.ts';
import type { SessionRequests } from '../routes/session-requests.ts';
import { createHandler, type EndpointContext } from './endpoint.ts';

/** Creates the paths below which requests pass to providers' APIs. @returns undefined if no front end has any */
export function createApiPaths(
  { frontEnds, baseUrl, trustedProxies, behindUnknownProxy }: Config,
  requests: SessionRequests | undefined,
  context: EndpointContext,
) {
  if (requests === undefined) return undefined;
  const { clientNetworkUnlessProxy } = createClientAddresses(trustedProxies, behindUnknownProxy);
  const apiPaths = frontEnds.flatMap(({ name, origin, apis }) =>
    apis.map(({ url, ...api }) => ({
      path: api.path,
      handle: createHandler(
        {
          path: api.path,
          // Logs and metrics do not tell the APIs apart.
          route: 'proxy',
          action: 'proxy',
          methods: api.methods,
          readers: { hasOrigin: (given) => matches(origin, given) },
          failures: answerSessionFailures,
          isLimited: true,
          handle: proxyApi({ ...api, url: new URL(url), frontEnd: name }, requests, clientNetworkUnlessProxy, baseUrl),
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
 * Creates a function that finds the entry at or above a path. An entry with a final slash contains only what is below
 * it. The time grows with the slashes of the path, not with the number of entries.
 */
export function createPathFinder<Entry extends { readonly path: string }>(entries: readonly Entry[]) {
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  const longest = Math.max(...entries.map(({ path }) => path.length));
  return (path: string): Entry | undefined => {
    const beginning = path.slice(0, longest + 1);
    for (let end = beginning.indexOf('/'); end >= 0; end = beginning.indexOf('/', end + 1)) {
      const found = byPath.get(beginning.slice(0, end)) ?? byPath.get(beginning.slice(0, end + 1));
      if (found !== undefined) return found;
    }
    return byPath.get(path);
  };
}
