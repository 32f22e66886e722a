import type { Next } from 'koa';
import { createFrontEnds, type FrontEnds } from '../front-ends/front-ends.ts';
import { type Action, type Context, claimedQuery, type Handler, inOrder, type Route } from '../http/context.ts';
import { answering, answerOAuthErrors } from '../http/error-responder.ts';
import { methods, refusePrefetch } from '../http/request-guards.ts';
import { namesInPath, registrationPath } from '../paths.ts';
import { registrationOfCms } from '../providers/cms.ts';
import { consentEndpoint } from '../routes/consent.ts';
import { introspectionEndpoint } from '../routes/introspect.ts';
import { deliverCallbackFailures, loginCallback } from '../routes/login-callback.ts';
import { metadataPaths, serverMetadata } from '../routes/metadata.ts';
import { clientRegistrationEndpoint } from '../routes/register-client.ts';
import { revocationEndpoint } from '../routes/revoke.ts';
import { startLogin } from '../routes/start-login.ts';
import { cmsTokenEndpoint, tokenEndpoint } from '../routes/token.ts';
import type { ServedPath, ServedRegistration } from './registrations.ts';

/** What the routes of every registration need. */
interface LoginDependencies {
  readonly baseUrl: string;
  readonly rateLimits: readonly Handler[];
  /** Warns of logins that start under another host name than the base URL's, or from another page. */
  readonly watchStarts: Handler;
}

/** The addresses of registrations: what each is, and what answers there. */
export type LoginRoutes = ReturnType<typeof createLoginRoutes>;

/**
 * Creates the routes of all registrations. The time to find one does not grow with their number. A registration may have
 * several paths; CMSes that start at `/auth` use its first.
 */
export function createLoginRoutes(registrations: readonly ServedRegistration[], dependencies: LoginDependencies) {
  const atFirstPaths = registrations.map((served) => routesOf(served, dependencies));
  const atOtherPaths = registrations.flatMap((one) => one.others.map((served) => routesOf(served, dependencies)));
  const all = [...atFirstPaths, ...atOtherPaths];
  const byWord = new Map(all.map((one) => [one.served.word, one]));
  const byPath = new Map<string, Found>(
    all.flatMap(({ served, routes }) =>
      Object.entries(routes).map(([pattern, route]) => [pattern, { served, route, pattern }]),
    ),
  );
  for (const [pattern, [first, ...others]] of Map.groupBy(all, ({ served }) => served.callbackPath)) {
    if (first) byPath.set(pattern, { ...callbackOf(first, others), pattern });
  }
  const cmsStarts = atFirstPaths.flatMap(({ startOfCms }) => startOfCms ?? []);

  /** The registration of a path, and the route if there is one. The pattern is the name of the route in the log. */
  function find(path: string): Found {
    const known = byPath.get(path);
    if (known !== undefined) return known;
    const { registration = '', below: frontEnd } = namesInPath(path);
    const { served, start } = byWord.get(registration) ?? {};
    if (frontEnd === undefined || !served?.frontEnds.has(frontEnd)) return { served };
    return { served, route: start, pattern: `${registrationPath(registration)}/:frontEnd` };
  }

  function startCms(ctx: Context, next: Next): unknown {
    // Sveltia CMS does not name its backend for a refresh. It starts here only at GitHub.
    const backend = ctx.method === 'POST' ? 'github' : claimedQuery(ctx)['provider'];
    const found = registrationOfCms(cmsStarts, backend);
    if (found === undefined) return next();
    return enter(ctx, found.served, () => found.handle(ctx, next));
  }

  return {
    find,
    /** Answers at an address of a registration. */
    answer(ctx: Context, next: Next): unknown {
      const { served, route, pattern } = find(ctx.path);
      if (served === undefined) return next();
      return enter(ctx, served, () => {
        if (route === undefined) return next();
        ctx.state.route = pattern;
        return route.handle(ctx, next);
      });
    },
    /** Where CMSes start unless their configuration says otherwise. */
    startOfCms: cmsStarts.length > 0 ? ({ action: 'start', handle: startCms } satisfies Route) : undefined,
  };
}

interface Found {
  readonly served?: ServedPath | undefined;
  readonly route?: Route | undefined;
  readonly pattern?: string | undefined;
}

/** Records the registration of a request. Its first front end answers failures until the request's own is known. */
function enter({ state }: Context, { registration, frontEnds }: ServedPath, goOn: () => unknown) {
  state.registration = registration.name;
  return answering(frontEnds.first.answerFailure, goOn);
}

type RoutesOfPath = ReturnType<typeof routesOf>;

/** The routes at one path of a registration, by pattern, its callback, and its starts. */
function routesOf(served: ServedPath, dependencies: LoginDependencies) {
  const { registration, frontEnds, word } = served;
  const { name, protection } = registration;
  const path = registrationPath(word);
  const start = startOf(served, frontEnds, dependencies);
  const callback = inOrder(
    methods('GET'),
    deliverCallbackFailures(served),
    refusePrefetch,
    ...dependencies.rateLimits,
    loginCallback(served),
  );
  const { firstCms } = frontEnds;
  const routes: Routes = {
    [path]: start,
    // Without a state check, a code could be redeemed in another browser than the login's.
    ...(protection && oauthEndpoints(served, path, dependencies)),
  };
  return {
    served,
    routes,
    callback,
    /** The start at `/auth/<registration>`, and at `/auth/<registration>/<front end>`. */
    start,
    /** The start at `/auth`, for its first CMS alone. */
    startOfCms: firstCms && {
      ...{ name, served, backend: firstCms.cmsBackend },
      ...startOf(served, createFrontEnds([firstCms]), dependencies),
    },
  };
}

/**
 * The callback of a registration. If several of its paths share it, the state says at which one a login began; the first
 * one answers what has no state of another.
 */
function callbackOf(first: RoutesOfPath, others: readonly RoutesOfPath[]) {
  const handle: Handler = (ctx, next) => {
    const own = others.find(({ served }) => served.peekLogin(ctx) !== undefined) ?? first;
    return own.callback(ctx, next);
  };
  return { served: first.served, route: { action: 'callback', handle } satisfies Route };
}

/** Where logins of these front ends start. A CMS also refreshes there. */
function startOf(served: ServedPath, frontEnds: FrontEnds, { watchStarts, rateLimits }: LoginDependencies): Route {
  const start = inOrder(
    methods('GET'),
    refusePrefetch,
    ...(served.registration.protection === undefined ? [] : [watchStarts]),
    startLogin(served, frontEnds),
  );
  const endpoint = cmsTokenEndpoint(served, frontEnds);
  const refresh = inOrder(answerOAuthErrors, methods('GET', 'POST'), ...rateLimits, endpoint);
  return {
    action: 'start',
    handle(ctx: Context, next) {
      const isRefresh = ctx.method !== 'GET' && frontEnds.findCmsToRefresh(ctx) !== undefined;
      return (isRefresh ? refresh : start)(ctx, next);
    },
  };
}

type Routes = Readonly<Record<string, Route>>;

/** The endpoints of the relay as an authorization server, besides the start of a login. */
function oauthEndpoints(served: ServedPath, path: string, { baseUrl, rateLimits }: LoginDependencies): Routes {
  const { clients } = served.frontEnds;
  const ofPrograms = (action: Action, endpoint: Handler): Route => ({
    action,
    handle: inOrder(answerOAuthErrors, methods('POST'), ...rateLimits, endpoint),
  });
  const describe: Route = {
    action: 'metadata',
    handle: inOrder(methods('GET', 'HEAD'), serverMetadata(served)),
  };
  return {
    [`${path}/token`]: ofPrograms('token', tokenEndpoint(served)),
    [`${path}/revoke`]: ofPrograms('revoke', revocationEndpoint(served)),
    ...(served.doors.some(({ resource }) => resource.secrets.length > 0) && {
      [`${path}/introspect`]: {
        action: 'introspect',
        // The servers that ask have one address for all their people, so they have no rate limit.
        handle: inOrder(answerOAuthErrors, methods('POST'), introspectionEndpoint(served)),
      },
    }),
    ...(clients?.takesNewClients && {
      [`${path}/register`]: ofPrograms('register', clientRegistrationEndpoint(clients, served)),
    }),
    ...((clients?.takesNewClients || clients?.takesDocuments) && {
      [`${path}/consent`]: {
        action: 'consent',
        handle: inOrder(methods('POST'), ...rateLimits, consentEndpoint(served)),
      },
    }),
    ...Object.fromEntries([...metadataPaths(baseUrl, path)].map((one) => [one, describe])),
  };
}
