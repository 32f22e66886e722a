import Router from '@koa/router';
import type { Middleware } from 'koa';
import { allow } from '../http/allow.ts';
import type { RequestState } from '../http/context.ts';
import { reportOtherHost } from '../http/other-host.ts';
import { refuseFrames } from '../http/refuse-frames.ts';
import { refusePrefetch } from '../http/refuse-prefetch.ts';
import { registrationOfCms } from '../login/cms-registration.ts';
import type { FrontEnds } from '../login/front-end.ts';
import { parseQuery } from '../oauth/query.ts';
import { paths } from '../paths.ts';
import { deliverCallbackFailures, deliverCmsFailures } from '../routes/deliver-failures.ts';
import { loginCallback } from '../routes/login-callback.ts';
import { metadataPaths } from '../routes/metadata.ts';
import { frontEndInPath, onlyFirstCms } from '../routes/select-front-end.ts';
import { startLogin } from '../routes/start-login.ts';
import { addOAuthEndpoints, addTokenEndpoint, type EndpointContext } from './oauth-endpoints.ts';
import type { ServedLeaving, ServedRegistration } from './served-registrations.ts';

/** What the routes of every registration need. */
export interface LoginDependencies extends EndpointContext {
  /** The relay's public address. */
  readonly baseUrl: string;
  /** Called with the host of a login that starts under another host name than the base URL's. */
  readonly onOtherHost: (host: string) => void;
}

type Routes = ReturnType<Router<RequestState>['routes']>;

/** The routes of one registration. */
interface LoginRoutes {
  readonly served: ServedRegistration;
  /** `/auth/<registration>` and the endpoints below it. */
  readonly byDefault: Routes;
  /** `/auth/<registration>/<front end>`. */
  readonly ofFrontEnd: Routes;
  /** `/auth`. Undefined: no CMS may start a login. */
  readonly ofFirstCms?: Routes | undefined;
  /** When they end, in milliseconds since 1970. Undefined: with the configuration. */
  readonly until?: number;
}

/** Finds the routes for a path. The time that it takes does not grow with the number of registrations. */
export interface LoginPaths {
  /** Passes a request to the routes of its registration. */
  readonly route: (...request: Parameters<Routes>) => unknown;
  /** The registration of a path; undefined if it belongs to none. */
  registrationOf(path: string): ServedRegistration | undefined;
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
  const byName = new Map<string, LoginRoutes>();
  const byMetadataPath = new Map<string, LoginRoutes>();
  for (const served of registrations) {
    const { name } = served.registration;
    const routes = createRoutes(served, dependencies);
    byName.set(name, routes);
    for (const path of metadataPaths(dependencies.baseUrl, `/auth/${name}`)) {
      byMetadataPath.set(path, routes);
    }
  }
  for (const { served, until } of leaving) {
    const routes = createFinishingRoutes(served, dependencies);
    byName.set(served.registration.name, { ...routes, until });
  }
  const withCms = [...byName].flatMap(([name, routes]) => {
    const { firstCms } = routes.served.frontEnds;
    return routes.ofFirstCms ? [{ name, backend: firstCms?.cmsBackend, routes }] : [];
  });
  const routesOf = (path: string): LoginRoutes | undefined => {
    const [, name] = /^\/auth\/([^/]+)/.exec(path) ?? [];
    const routes = name === undefined ? byMetadataPath.get(path) : byName.get(name);
    return routes?.until !== undefined && routes.until <= dependencies.now() ? undefined : routes;
  };
  return {
    registrationOf: (path) => routesOf(path)?.served,
    route(ctx, next) {
      const isOfCms = ctx.path === paths.cmsLogin;
      const routes = isOfCms
        ? registrationOfCms(withCms, parseQuery(ctx.querystring)['provider'])?.routes
        : routesOf(ctx.path);
      if (routes === undefined) return next();
      const { served, byDefault, ofFrontEnd, ofFirstCms } = routes;
      ctx.state.registration = served.registration.name;
      ctx.state.answerFailure = served.answerFailure;
      if (isOfCms && ofFirstCms !== undefined) return ofFirstCms(ctx, next);
      const inPath = frontEndInPath(ctx.path);
      const isFrontEnd = inPath !== undefined && served.frontEnds.find(inPath) !== undefined;
      return isFrontEnd ? ofFrontEnd(ctx, next) : byDefault(ctx, next);
    },
  };
}

function createRoutes(served: ServedRegistration, dependencies: LoginDependencies): LoginRoutes {
  const { baseUrl, onOtherHost, limited } = dependencies;
  const { registration, frontEnds, answerInPlace } = served;
  const loginPath = `/auth/${registration.name}`;
  const router = newRouter();
  const startOf = (chosen: FrontEnds) => [
    allow('GET'),
    deliverCmsFailures(chosen),
    refusePrefetch,
    ...(registration.protection === undefined ? [] : [reportOtherHost(baseUrl, onOtherHost)]),
    startLogin(registration, chosen, answerInPlace),
  ];
  const start = startOf(frontEnds);
  router.all(loginPath, ...start);
  addCallback(router, served, limited);
  // Without a state check, a code could be redeemed in another browser than the login's.
  if (registration.protection !== undefined) {
    addOAuthEndpoints(router, served, baseUrl, dependencies);
  }
  // A router of its own: its pattern also matches the endpoints.
  const ofFrontEnd = newRouter();
  ofFrontEnd.all(`${loginPath}/:frontEnd`, ...start);
  const { firstCms } = frontEnds;
  const ofFirstCms =
    firstCms && newRouter().all(paths.cmsLogin, ...startOf(onlyFirstCms(frontEnds, firstCms)));
  return {
    served,
    byDefault: router.routes(),
    ofFrontEnd: ofFrontEnd.routes(),
    ofFirstCms: ofFirstCms?.routes(),
  };
}

/** The routes of a registration that leaves: a login can end there, not start. */
function createFinishingRoutes(served: ServedRegistration, context: EndpointContext): LoginRoutes {
  const router = newRouter();
  addCallback(router, served, context.limited);
  addTokenEndpoint(router, served, context);
  return { served, byDefault: router.routes(), ofFrontEnd: router.routes() };
}

function addCallback(
  router: Router<RequestState>,
  { registration, frontEnds, answerFailure }: ServedRegistration,
  limited: readonly Middleware[],
): void {
  router.all(
    `/auth/${registration.name}/callback`,
    allow('GET'),
    deliverCallbackFailures(frontEnds, answerFailure),
    refusePrefetch,
    ...limited,
    refuseFrames,
    loginCallback(registration, frontEnds),
  );
}

function newRouter(): Router<RequestState> {
  return new Router<RequestState>({ sensitive: true, strict: true });
}
