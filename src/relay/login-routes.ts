import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { type Context, claimedQuery, inOrder, type RequestState } from '../http/context.ts';
import { answerOAuthErrors } from '../http/error-responder.ts';
import { allow, refusePrefetch } from '../http/request-guards.ts';
import { registrationOfCms } from '../login/cms-registration.ts';
import { paths } from '../paths.ts';
import { createFrontEnds, type FrontEnds, frontEndInPath } from '../routes/front-ends.ts';
import { deliverCallbackFailures, loginCallback } from '../routes/login-callback.ts';
import { metadataPaths, serverMetadata } from '../routes/metadata.ts';
import { registrationEndpoint } from '../routes/register.ts';
import { revocationEndpoint } from '../routes/revoke.ts';
import { consentEndpoint, startLogin } from '../routes/start-login.ts';
import { cmsTokenEndpoint, tokenEndpoint } from '../routes/token.ts';
import type { ServedRegistration } from './registrations.ts';

/** What the routes of every registration need. */
interface LoginDependencies {
  readonly baseUrl: string;
  readonly limited: readonly Middleware[];
  /** Warns of logins that start under another host name than the base URL's, or from another page. */
  readonly watchStarts: Middleware<RequestState>;
}

/**
 * Adds the routes of every registration. The time to find one does not grow with their number.
 *
 * @returns finds the registration of a path; undefined if the path belongs to none
 */
export function addLoginRoutes(
  router: Router<RequestState>,
  registrations: readonly ServedRegistration[],
  dependencies: LoginDependencies,
): (path: string) => ServedRegistration | undefined {
  const all = registrations.map((served) => createLoginRoutes(served, dependencies));
  const byName = new Map(all.map((routes) => [routes.name, routes]));
  const byPath = new Map(
    all.flatMap((routes) => [...routes.byPath.keys()].map((path) => [path, routes])),
  );
  const withCms = all.flatMap(({ startOfCms, ...routes }) =>
    startOfCms === undefined ? [] : [{ ...routes, ...startOfCms }],
  );

  function routesOf(path: string) {
    return byPath.get(path) ?? byName.get(/^\/auth\/([^/]+)/.exec(path)?.[1] ?? '');
  }

  if (withCms.length > 0) {
    router.all(paths.cmsLogin, (ctx: Context, next) => {
      // Sveltia CMS does not name its backend for a refresh. It starts here only at GitHub.
      const backend = ctx.method === 'POST' ? 'github' : claimedQuery(ctx)['provider'];
      const found = registrationOfCms(withCms, backend);
      if (found === undefined) return next();
      enter(ctx, found.served);
      return found.start(ctx, next);
    });
  }
  router.all(/^\/(auth|\.well-known)\//, (ctx: Context, next) => {
    const { path, state } = ctx;
    const routes = routesOf(path);
    if (routes === undefined) return next();
    enter(ctx, routes.served);
    const handle = routes.byPath.get(path);
    if (handle !== undefined) {
      state.route = path;
      return handle(ctx, next);
    }
    const frontEnd = frontEndInPath(path);
    if (frontEnd === undefined || !routes.served.frontEnds.has(frontEnd)) return next();
    state.route = `/auth/${routes.name}/:frontEnd`;
    return routes.start(ctx, next);
  });
  return (path) => routesOf(path)?.served;
}

function enter({ state }: Context, { registration, frontEnds }: ServedRegistration): void {
  state.registration = registration.name;
  state.answerFailure = frontEnds.first.answerFailure;
}

function createLoginRoutes(served: ServedRegistration, dependencies: LoginDependencies) {
  const { watchStarts, limited } = dependencies;
  const { registration, frontEnds } = served;
  const { name, protection } = registration;
  const path = `/auth/${name}`;
  const startOf = (chosen: FrontEnds): Middleware<RequestState> => {
    const start = inOrder(
      allow('GET'),
      refusePrefetch,
      ...(protection === undefined ? [] : [watchStarts]),
      startLogin(served, chosen),
    );
    const ofCms = cmsTokenEndpoint(served, chosen);
    const refreshCms = inOrder(answerOAuthErrors, allow('GET', 'POST'), ...limited, ofCms);
    return (ctx, next) => {
      const isRefreshed = ctx.method !== 'GET' && chosen.findCmsToRefresh(ctx) !== undefined;
      return (isRefreshed ? refreshCms : start)(ctx, next);
    };
  };
  const start = startOf(frontEnds);
  const callback = inOrder(
    allow('GET'),
    deliverCallbackFailures(served),
    refusePrefetch,
    ...limited,
    loginCallback(served),
  );
  const { firstCms } = frontEnds;
  const byPath: Routes = {
    [path]: start,
    [`${path}/callback`]: callback,
    // Without a state check, a code could be redeemed in another browser than the login's.
    ...(protection && oauthEndpoints(served, path, dependencies)),
  };
  return {
    name,
    served,
    /** Of a front end too: `/auth/<registration>/<front end>`. */
    start,
    byPath: new Map(Object.entries(byPath)),
    /** `/auth`. */
    startOfCms: firstCms && {
      backend: firstCms.cmsBackend,
      start: startOf(createFrontEnds([firstCms])),
    },
  };
}

type Routes = Readonly<Record<string, Middleware<RequestState>>>;

/** The endpoints of the relay as an authorization server, besides the start of a login. */
function oauthEndpoints(
  served: ServedRegistration,
  path: string,
  { baseUrl, limited }: LoginDependencies,
): Routes {
  const { clients } = served.frontEnds;
  const ofPrograms = (endpoint: Middleware<RequestState>) =>
    inOrder(answerOAuthErrors, allow('POST'), ...limited, endpoint);
  const describe = inOrder(allow('GET', 'HEAD'), serverMetadata(served));
  return {
    [`${path}/token`]: ofPrograms(tokenEndpoint(served)),
    [`${path}/revoke`]: ofPrograms(revocationEndpoint(served)),
    ...(clients?.takesRegistrations && {
      [`${path}/register`]: ofPrograms(registrationEndpoint(clients, served)),
    }),
    ...((clients?.takesRegistrations || clients?.takesDocuments) && {
      [`${path}/consent`]: inOrder(allow('POST'), ...limited, consentEndpoint(served)),
    }),
    ...Object.fromEntries([...metadataPaths(baseUrl, path)].map((one) => [one, describe])),
  };
}
