import Router from '@koa/router';
import type { Middleware } from 'koa';
import { allow } from '../http/allow.ts';
import type { RequestState } from '../http/context.ts';
import { refuseFrames, refusePrefetch } from '../http/fetch-metadata.ts';
import { reportOtherHost } from '../http/other-origins.ts';
import type { FrontEnds } from '../login/front-end.ts';
import { paths } from '../paths.ts';
import { deliverCallbackFailures, deliverCmsFailures } from '../routes/deliver-failures.ts';
import { loginCallback } from '../routes/login-callback.ts';
import { onlyFirstCms } from '../routes/select-front-end.ts';
import { startLogin } from '../routes/start-login.ts';
import { addOAuthEndpoints, type EndpointContext } from './oauth-endpoints.ts';
import type { ServedRegistration } from './served-registrations.ts';

/** What the routes of every registration need. */
export interface LoginDependencies extends EndpointContext {
  /** The relay's public address. */
  readonly baseUrl: string;
  /** Called with the host of a login that starts under another host name than the base URL's. */
  readonly onOtherHost: (host: string) => void;
}

/** Passes a request to the route that it matches. */
export type Routes = ReturnType<Router<RequestState>['routes']>;

/** The routes of one registration. */
export interface LoginRoutes {
  readonly served: ServedRegistration;
  /** `/auth/<registration>` and the endpoints below it. */
  readonly byDefault: Routes;
  /** `/auth/<registration>/<front end>`. */
  readonly ofFrontEnd: Routes;
  /** `/auth`. Undefined: no CMS may start a login. */
  readonly ofFirstCms?: Routes | undefined;
}

/** Creates the routes of a registration. */
export function createLoginRoutes(
  served: ServedRegistration,
  dependencies: LoginDependencies,
): LoginRoutes {
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

function addCallback(
  router: Router<RequestState>,
  { registration, frontEnds, states, answerFailure }: ServedRegistration,
  limited: readonly Middleware[],
): void {
  router.all(
    `/auth/${registration.name}/callback`,
    allow('GET'),
    deliverCallbackFailures(frontEnds, states, answerFailure),
    refusePrefetch,
    ...limited,
    refuseFrames,
    loginCallback(registration, frontEnds),
  );
}

function newRouter(): Router<RequestState> {
  return new Router<RequestState>({ sensitive: true, strict: true });
}
