import type { Context } from '../http/context.ts';
import { claimedQuery } from '../http/query.ts';
import { registrationOfCms } from '../login/cms-registration.ts';
import { paths } from '../paths.ts';
import { metadataPaths } from '../routes/metadata.ts';
import { frontEndInPath } from '../routes/select-front-end.ts';
import {
  createLoginRoutes,
  type LoginDependencies,
  type LoginRoutes,
  type Routes,
} from './login-routes.ts';
import type { ServedRegistration } from './served-registrations.ts';

/** Finds the routes for a path. The time that it takes does not grow with the number of registrations. */
export interface LoginPaths {
  /** Passes a request to the routes of its registration. */
  readonly route: (...request: Parameters<Routes>) => unknown;
  /** The registration of a path; undefined if it belongs to none. */
  registrationOf(path: string): ServedRegistration | undefined;
}

/** The routes for one request. */
interface Selected {
  readonly served: ServedRegistration;
  readonly routes: Routes;
}

/** Creates the routes of every registration. */
export function createLoginPaths(
  registrations: readonly ServedRegistration[],
  dependencies: LoginDependencies,
): LoginPaths {
  const byName = new Map<string, LoginRoutes>();
  const byMetadataPath = new Map<string, LoginRoutes>();
  for (const served of registrations) {
    const { name } = served.registration;
    const routes = createLoginRoutes(served, dependencies);
    byName.set(name, routes);
    for (const path of metadataPaths(dependencies.baseUrl, `/auth/${name}`)) {
      byMetadataPath.set(path, routes);
    }
  }
  const withCms = [...byName].flatMap(([name, { served, ofFirstCms: routes }]) => {
    const backend = served.frontEnds.firstCms?.cmsBackend;
    return routes === undefined ? [] : [{ name, backend, served, routes }];
  });

  function routesOf(path: string): LoginRoutes | undefined {
    const [, name] = /^\/auth\/([^/]+)/.exec(path) ?? [];
    return name === undefined ? byMetadataPath.get(path) : byName.get(name);
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
