import type { Context } from '../http/context.ts';
import { claimedQuery } from '../http/query.ts';
import { registrationOfCms } from '../login/cms-registration.ts';
import { paths } from '../paths.ts';
import { metadataPaths } from '../routes/metadata.ts';
import { frontEndInPath } from '../routes/select-front-end.ts';
import {
  createFinishingRoutes,
  createLoginRoutes,
  type LoginDependencies,
  type LoginRoutes,
  type Routes,
} from './login-routes.ts';
import type { ServedLeaving, ServedRegistration } from './served-registrations.ts';

/** Finds the routes for a path. The time that it takes does not grow with the number of registrations. */
export interface LoginPaths {
  /** Passes a request to the routes of its registration. */
  readonly route: (...request: Parameters<Routes>) => unknown;
  /** The registration of a path; undefined if it belongs to none. */
  registrationOf(path: string): ServedRegistration | undefined;
}

/** The routes of a registration; those of one that leaves end at a time in milliseconds since 1970. */
type TimedRoutes = LoginRoutes & { readonly until?: number };

/** The routes for one request. */
interface Selected {
  readonly served: ServedRegistration;
  readonly routes: Routes;
}

/**
 * Creates the routes of every registration.
 *
 * @param leaving registrations that start no logins
 */
export function createLoginPaths(
  registrations: readonly ServedRegistration[],
  leaving: readonly ServedLeaving[],
  dependencies: LoginDependencies,
): LoginPaths {
  const byName = new Map<string, TimedRoutes>();
  const byMetadataPath = new Map<string, TimedRoutes>();
  for (const served of registrations) {
    const { name } = served.registration;
    const routes = createLoginRoutes(served, dependencies);
    byName.set(name, routes);
    for (const path of metadataPaths(dependencies.baseUrl, `/auth/${name}`)) {
      byMetadataPath.set(path, routes);
    }
  }
  for (const { served, until } of leaving) {
    const routes = createFinishingRoutes(served, dependencies);
    byName.set(served.registration.name, { ...routes, until });
  }
  const withCms = [...byName].flatMap(([name, { served, ofFirstCms: routes }]) => {
    const backend = served.frontEnds.firstCms?.cmsBackend;
    return routes === undefined ? [] : [{ name, backend, served, routes }];
  });

  function routesOf(path: string): LoginRoutes | undefined {
    const [, name] = /^\/auth\/([^/]+)/.exec(path) ?? [];
    const routes = name === undefined ? byMetadataPath.get(path) : byName.get(name);
    return routes?.until !== undefined && routes.until <= dependencies.now() ? undefined : routes;
  }

  function select(ctx: Context): Selected | undefined {
    const { path } = ctx;
    if (path === paths.cmsLogin) {
      return registrationOfCms(withCms, claimedQuery(ctx)['provider']);
    }
    const found = routesOf(path);
    if (found === undefined) return undefined;
    const { served, byDefault, ofFrontEnd } = found;
    const inPath = frontEndInPath(path);
    const isFrontEnd = inPath !== undefined && served.frontEnds.find(inPath) !== undefined;
    return { served, routes: isFrontEnd ? ofFrontEnd : byDefault };
  }

  return {
    registrationOf: (path) => routesOf(path)?.served,
    route(ctx, next) {
      const selected = select(ctx);
      if (selected === undefined) return next();
      const { served, routes } = selected;
      ctx.state.registration = served.registration.name;
      ctx.state.answerFailure = served.answerFailure;
      return routes(ctx, next);
    },
  };
}
