import Router from '@koa/router';
import type { Middleware } from 'koa';
import { allow } from '../http/allow.ts';
import type { RequestState } from '../http/context.ts';
import { reportOtherHost } from '../http/other-host.ts';
import { refuseFrames } from '../http/refuse-frames.ts';
import { refusePrefetch } from '../http/refuse-prefetch.ts';
import { deliverCallbackFailures } from '../routes/deliver-failures.ts';
import { loginCallback } from '../routes/login-callback.ts';
import { metadataPaths } from '../routes/metadata.ts';
import { startLogin } from '../routes/start-login.ts';
import { addOAuthEndpoints } from './oauth-endpoints.ts';
import type { ServedRegistration } from './served-registrations.ts';

/** What the routes of every registration need. */
export interface LoginDependencies {
  /** The relay's public address. */
  readonly baseUrl: string;
  /** Called with the host of a login that starts under another host name than the base URL's. */
  readonly onOtherHost: (host: string) => void;
  /** Undefined: clients may send any number of requests. */
  readonly rateLimit: Middleware | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

type Routes = ReturnType<Router<RequestState>['routes']>;

/** The routes of one registration. */
interface LoginRoutes {
  readonly served: ServedRegistration;
  /** `/auth/<registration>` and the endpoints below it. */
  readonly byDefault: Routes;
  /** `/auth/<registration>/<front end>`. */
  readonly ofFrontEnd: Routes;
}

/** Finds the routes for a path. The time that it takes does not grow with the number of registrations. */
export interface LoginPaths {
  /** Passes a request to the routes of its registration. */
  readonly route: (...request: Parameters<Routes>) => unknown;
  /** The registration of a path; undefined if it belongs to none. */
  registrationOf(path: string): ServedRegistration | undefined;
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
    const routes = createRoutes(served, dependencies);
    byName.set(name, routes);
    for (const path of metadataPaths(dependencies.baseUrl, `/auth/${name}`)) {
      byMetadataPath.set(path, routes);
    }
  }
  const routesOf = (path: string): LoginRoutes | undefined => {
    const [, name] = /^\/auth\/([^/]+)/.exec(path) ?? [];
    return name === undefined ? byMetadataPath.get(path) : byName.get(name);
  };
  return {
    registrationOf: (path) => routesOf(path)?.served,
    route(ctx, next) {
      const routes = routesOf(ctx.path);
      if (routes === undefined) return next();
      const { served, byDefault, ofFrontEnd } = routes;
      ctx.state.registration = served.registration.name;
      ctx.state.answerFailure = served.answerFailure;
      const [, inPath] = /^\/auth\/[^/]+\/([^/]+)$/.exec(ctx.path) ?? [];
      const isFrontEnd = inPath !== undefined && served.frontEnds.find(inPath) !== undefined;
      return isFrontEnd ? ofFrontEnd(ctx, next) : byDefault(ctx, next);
    },
  };
}

function createRoutes(
  served: ServedRegistration,
  { baseUrl, onOtherHost, rateLimit, now }: LoginDependencies,
): LoginRoutes {
  const { registration, frontEnds, answerInPlace } = served;
  const loginPath = `/auth/${registration.name}`;
  const limited = rateLimit === undefined ? [] : [rateLimit];
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  const start = [
    allow('GET'),
    refusePrefetch,
    ...(registration.protection === undefined ? [] : [reportOtherHost(baseUrl, onOtherHost)]),
    startLogin(registration, frontEnds, answerInPlace),
  ];
  router.all(loginPath, ...start);
  router.all(
    `${loginPath}/callback`,
    allow('GET'),
    // Don't deliver it: browsers keep a prefetched redirect, and would show its error instead of the login.
    refusePrefetch,
    deliverCallbackFailures(frontEnds),
    ...limited,
    refuseFrames,
    loginCallback(registration, frontEnds),
  );
  // Without a state check, a code could be redeemed in another browser than the login's.
  if (registration.protection !== undefined) {
    addOAuthEndpoints(router, served, limited, baseUrl, now);
  }
  // A router of its own: its pattern also matches the endpoints.
  const ofFrontEnd = new Router<RequestState>({ sensitive: true, strict: true });
  ofFrontEnd.all(`${loginPath}/:frontEnd`, ...start);
  return { served, byDefault: router.routes(), ofFrontEnd: ofFrontEnd.routes() };
}
