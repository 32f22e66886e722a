import type { Next } from 'koa';
import type { Logger } from 'pino';
import type { DoorHost } from '../browsers/browser-door.ts';
import { createFrontEnds, type FrontEnds } from '../front-ends/front-ends.ts';
import { type Context, type Handler, inOrder, truncatedQuery } from '../http/context.ts';
import type { Readers } from '../http/cors.ts';
import { answerFailures, answerOAuthErrors, answerSessionFailures } from '../http/error-responder.ts';
import { createForwardedReader } from '../http/forwarded-request.ts';
import { allowMethods, refusePrefetch } from '../http/request-guards.ts';
import { warnOfCheckedPaths } from '../observability/occasional-warnings.ts';
import { pathOfCheck, paths, registrationPath } from '../paths.ts';
import { findCmsRegistration } from '../providers/cms.ts';
import type { Doors } from '../resources/door.ts';
import { clientFiles } from '../routes/browser-client.ts';
import { consentEndpoint } from '../routes/consent.ts';
import { alive, type Readiness, ready } from '../routes/health.ts';
import { home } from '../routes/home.ts';
import { introspectionEndpoint } from '../routes/introspect.ts';
import { deliverCallbackFailures, loginCallback } from '../routes/login-callback.ts';
import { answerWithChallenge, checkRequest } from '../routes/protected-resource.ts';
import { clientRegistrationEndpoint } from '../routes/register-client.ts';
import { revocationEndpoint } from '../routes/revoke.ts';
import { metadataPaths, serverMetadata } from '../routes/server-metadata.ts';
import { describeSession, logout, refreshSession } from '../routes/session-endpoints.ts';
import { createSessionLookup } from '../routes/session-lookup.ts';
import { refuseSessions, type SessionRequests } from '../routes/session-requests.ts';
import { startLogin } from '../routes/start-login.ts';
import { cmsTokenEndpoint, tokenEndpoint } from '../routes/token.ts';
import { userLookup } from '../routes/user-lookup.ts';
import { doorEndpointsAtLogin } from './browser-doors.ts';
import type { Endpoint } from './endpoint.ts';
import { isGuessOfMetadata, noPages, pagesOfFrontEnds } from './readers.ts';
import { type ServedPath, type ServedRegistration, type ServingContext, wordsOfPaths } from './registrations.ts';
import { resourceMetadataEndpoints } from './resource-metadata.ts';
import { createForeignPageCheck, createRegistrationFinder } from './user-lookups.ts';

/** The parts of the endpoints. Their owner creates and closes them. */
export interface EndpointDependencies extends ServingContext {
  readonly logger: Logger;
  readonly served: readonly [ServedRegistration, ...ServedRegistration[]];
  readonly readiness: Readiness;
  readonly sessionRequests: SessionRequests | undefined;
  readonly rateLimits: readonly Handler[];
  /** Warns about logins that start under another host name than the base URL's, or from another page. */
  readonly warnOfStarts: Handler;
  /** The doors of each resource. */
  readonly resources: readonly Doors[];
  /** The hosts of the resources that open to browsers. */
  readonly doorHosts: readonly DoorHost[];
}

/**
 * The endpoints of a relay, in the order of comparison. Resources behind the relay are in `gateways.ts`, and APIs of
 * providers in `api-paths.ts`, because a request below their path belongs to them.
 */
export function createEndpoints(dependencies: EndpointDependencies): readonly Endpoint[] {
  const { served, sessionRequests } = dependencies;
  const servedPaths = [...served, ...served.flatMap(({ others }) => others)];
  const byCallbackPath = Map.groupBy(servedPaths, ({ callbackPath }) => callbackPath);
  return [
    ...commonEndpoints(dependencies),
    ...(sessionRequests ? sessionEndpoints(dependencies, sessionRequests) : []),
    ...createCmsStart(dependencies),
    ...resourceEndpoints(dependencies),
    ...[...byCallbackPath].map(([path, pathsThere]) => callbackEndpoint(path, pathsThere)),
    ...servedPaths.flatMap((path) => registrationEndpoints(path, dependencies)),
    // Last, because without sessions a provider may be called `session` or `logout`.
    ...(sessionRequests ? [] : refusedSessionEndpoints(dependencies)),
  ];
}

const readMethods = ['GET', 'HEAD'] as const;

/** The endpoints that every relay has. */
function commonEndpoints(dependencies: EndpointDependencies): Endpoint[] {
  const { config, pages, memory, served, readiness, sessionRequests } = dependencies;
  const lookup = sessionRequests && createSessionLookup(sessionRequests, memory.grants.refreshes, memory.home.now);
  const readers = pagesOfFrontEnds(config);
  const [firstPage, secondPage] = config.frontEnds.flatMap(({ frontendUrl }) => frontendUrl ?? []);
  const findRegistration = config.registrationsAreNamed
    ? createRegistrationFinder(served, new URL(config.baseUrl))
    : () => served[0].registration;
  const common = { methods: readMethods, readers, isLimited: false };
  return [
    {
      path: paths.user,
      action: 'user',
      methods: readMethods,
      readers: { ...readers, all: (ctx) => mayAllReadUser(ctx, served) },
      isLimited: true,
      handle: userLookup(findRegistration, lookup, createForeignPageCheck(config)),
    },
    // For people who only know the host.
    { ...common, path: '/', action: 'home', handle: home(pages, readiness, secondPage ? undefined : firstPage) },
    { ...common, path: paths.alive, action: 'probe', handle: alive },
    { ...common, path: paths.ready, action: 'probe', handle: ready(readiness) },
    ...Object.entries(clientFiles).map(([path, handle]): Endpoint => ({ ...common, path, action: 'client', handle })),
  ];
}

/** Whether a client on any page may look a user up. The request does not name the client, but perhaps the provider. */
function mayAllReadUser(ctx: Context, served: readonly ServedRegistration[]): boolean {
  const { provider } = truncatedQuery(ctx);
  const mayBeNamed = (registration: ServedRegistration) =>
    provider === undefined || wordsOfPaths(registration).some((word) => word === provider);
  return served.some((registration) => registration.frontEnds.takesAnyOrigin && mayBeNamed(registration));
}

/** The endpoints of sessions, which only pages of front ends with sessions may read. */
function sessionEndpoints({ memory: { grants } }: EndpointDependencies, requests: SessionRequests): Endpoint[] {
  const common = { readers: requests, failures: answerSessionFailures, isLimited: true };
  return [
    { ...common, path: paths.session, action: 'session', methods: readMethods, handle: describeSession(requests) },
    {
      ...common,
      path: paths.sessionRefresh,
      action: 'session-refresh',
      methods: ['POST'],
      handle: refreshSession(requests, grants),
    },
    { ...common, path: paths.logout, action: 'logout', methods: ['POST'], handle: logout(requests, grants) },
  ];
}

/** The endpoints of sessions if no front end has sessions. They tell a page why. */
function refusedSessionEndpoints({ config }: EndpointDependencies): Endpoint[] {
  const readers = pagesOfFrontEnds(config);
  return [paths.session, paths.sessionRefresh, paths.logout].map((path) => ({
    path,
    action: 'session',
    methods: ['GET', 'HEAD', 'POST'],
    readers,
    failures: answerSessionFailures,
    isLimited: true,
    handle: refuseSessions,
  }));
}

/**
 * The endpoints of resources on the relay's own host, apart from the endpoints of their registrations. A resource that
 * opens to browsers has the endpoint `check` of `doorEndpointsAtLogin` instead of the one here.
 */
function resourceEndpoints({ resources, doorHosts, config, logger }: EndpointDependencies): Endpoint[] {
  const findAsked = createForwardedReader(config.trustedProxies);
  const warn = warnOfCheckedPaths(logger);
  const browserEndpoints = doorHosts.flatMap((host) => doorEndpointsAtLogin(host, findAsked, warn));
  const checks = resources
    .filter(([{ resource }]) => resource.browser === undefined)
    .map((doors): Endpoint => {
      const [{ resource }] = doors;
      return {
        path: pathOfCheck(resource.name),
        isFrequent: true,
        action: 'check',
        // Every method, because some proxies ask with the method of the request. A preflight is treated like any other
        // request (`isFrequent`): a 204 would tell the proxy to let it pass without a token.
        readers: noPages,
        failures: answerWithChallenge(resource),
        isLimited: false,
        handle: checkRequest(doors),
      };
    });
  return [...browserEndpoints, ...checks, ...resourceMetadataEndpoints(config)];
}

/**
 * The endpoint to which the provider sends browsers back. If several paths of a registration share it, the state tells
 * at which path a login began. The first path handles callbacks whose state belongs to none of them.
 */
function callbackEndpoint(path: string, servedPaths: readonly ServedPath[]): Endpoint {
  const [first, ...others] = servedPaths.map((served) => ({
    served,
    deliverFailures: deliverCallbackFailures(served),
    handle: loginCallback(served),
  }));
  if (first === undefined) throw new Error('a callback belongs to a path');
  const findStart = (ctx: Context) => others.find(({ served }) => served.isOwnCallback(ctx)) ?? first;
  return {
    path,
    action: 'callback',
    methods: ['GET'],
    readers: first.served.frontEnds,
    failures: inOrder(recordRegistration(first.served), (ctx, next) => findStart(ctx).deliverFailures(ctx, next)),
    guards: [refusePrefetch],
    isLimited: true,
    handle: (ctx, next) => findStart(ctx).handle(ctx, next),
  };
}

/** The endpoints of a registration at one of its paths, apart from the callback. */
function registrationEndpoints(served: ServedPath, dependencies: EndpointDependencies): Endpoint[] {
  const { registration, frontEnds, word } = served;
  const path = registrationPath(word);
  const failures = recordRegistration(served);
  const start = {
    readers: frontEnds,
    failures,
    action: 'start',
    // A start calls no provider and remembers nothing, so many of one address do no harm.
    isLimited: false,
    handle: createStartHandler(served, frontEnds, dependencies),
  } as const;
  return [
    { ...start, path },
    // Without a state check, a code could be redeemed in another browser than the login's.
    ...(registration.protection ? oauthEndpoints(served, path, dependencies) : []),
    ...frontEnds.names.map((name) => ({ ...start, path: `${path}/${name}`, route: `${path}/:frontEnd` })),
    // Nothing is at any other address below. But the registration answers the failure, and OAuth clients that guess
    // where metadata are can read it.
    {
      failures,
      readers: { hasOrigin: frontEnds.hasOrigin, all: isGuessOfMetadata },
      path,
      includesBelow: true,
      action: undefined,
      isLimited: false,
      handle: (_, next) => next(),
    },
  ];
}

/** The endpoints of the relay as an authorization server, apart from the start of a login. */
function oauthEndpoints(
  served: ServedPath,
  path: string,
  { config: { baseUrl }, resources }: EndpointDependencies,
): Endpoint[] {
  const { frontEnds, doors, registration } = served;
  const ownResources = resources.filter(([door]) => door.resource.registrations.includes(registration.name));
  const { clients } = frontEnds;
  const failures = recordRegistration(served);
  const forPrograms = { methods: ['POST'], failures: inOrder(failures, answerOAuthErrors), isLimited: true };
  // If unregistered clients may be anywhere, every page may read the answer at first. As soon as the client is known,
  // `expectOrigin` lets only the pages of this client read it.
  const clientPages: Readers = { hasOrigin: frontEnds.hasOrigin, all: frontEnds.takesAnyOrigin };
  const endpoints: (Endpoint | false | undefined)[] = [
    { ...forPrograms, path: `${path}/token`, action: 'token', readers: clientPages, handle: tokenEndpoint(served) },
    {
      ...forPrograms,
      path: `${path}/revoke`,
      action: 'revoke',
      readers: clientPages,
      handle: revocationEndpoint(served, ownResources),
    },
    doors.some(({ resource }) => resource.secrets.length > 0) && {
      ...forPrograms,
      path: `${path}/introspect`,
      action: 'introspect',
      readers: frontEnds,
      // No rate limit, because a server has one address for all its people.
      isLimited: false,
      handle: introspectionEndpoint(served, ownResources),
    },
    clients?.takesNewClients && {
      ...forPrograms,
      path: `${path}/register`,
      action: 'register',
      readers: clientPages,
      handle: clientRegistrationEndpoint(clients, served),
    },
    (clients?.takesNewClients || clients?.takesDocuments) && {
      path: `${path}/consent`,
      action: 'consent',
      methods: ['POST'],
      readers: frontEnds,
      failures,
      isLimited: true,
      handle: consentEndpoint(served),
    },
    ...[...metadataPaths(baseUrl, path)].map(
      (metadataPath): Endpoint => ({
        path: metadataPath,
        action: 'metadata',
        methods: readMethods,
        // Clients on every page need the metadata to find the login.
        readers: { hasOrigin: frontEnds.hasOrigin, all: true },
        failures,
        isLimited: false,
        handle: serverMetadata(served),
      }),
    ),
  ];
  return endpoints.filter((endpoint) => typeof endpoint === 'object');
}

/**
 * Creates a handler that records the registration of a request. The registration's first front end answers failures
 * until the front end of the request is known.
 */
function recordRegistration({ registration, frontEnds }: ServedPath): Handler {
  const answerByFirst = answerFailures(frontEnds.first.answerFailure);
  return (ctx, next) => {
    ctx.state.registration = registration.name;
    return answerByFirst(ctx, next);
  };
}

/**
 * Creates the handler of the address at which logins of front ends start. A CMS also refreshes there, with another
 * method and other failures.
 */
function createStartHandler(
  served: ServedPath,
  frontEnds: FrontEnds,
  { warnOfStarts, rateLimits }: EndpointDependencies,
): Handler {
  const warnings = served.registration.protection === undefined ? [] : [warnOfStarts];
  const start = inOrder(allowMethods('GET'), refusePrefetch, ...warnings, startLogin(served, frontEnds));
  const refresh = inOrder(
    answerOAuthErrors,
    allowMethods('GET', 'POST'),
    ...rateLimits,
    cmsTokenEndpoint(served, frontEnds),
  );
  return (ctx, next) => {
    const isRefresh = ctx.method !== 'GET' && frontEnds.findCmsToRefresh(ctx) !== undefined;
    return (isRefresh ? refresh : start)(ctx, next);
  };
}

/**
 * `/auth`, where a CMS starts logins unless its configuration has an `auth_endpoint`. The parameter `provider` chooses
 * the registration (`findCmsRegistration`).
 */
function createCmsStart(dependencies: EndpointDependencies): Endpoint[] {
  const starts = dependencies.served.flatMap((served) => {
    const { firstCms } = served.frontEnds;
    if (firstCms === undefined) return [];
    const { name } = served.registration;
    const handle = inOrder(
      recordRegistration(served),
      createStartHandler(served, createFrontEnds([firstCms]), dependencies),
    );
    return [{ name, backend: firstCms.cmsBackend, handle }];
  });
  if (starts.length === 0) return [];
  const handle = (ctx: Context, next: Next) => {
    // A refresh does not name the backend. It comes from Sveltia CMS, which uses this address only with GitHub.
    const backend = ctx.method === 'POST' ? 'github' : truncatedQuery(ctx)['provider'];
    const found = findCmsRegistration(starts, backend);
    return found === undefined ? next() : found.handle(ctx, next);
  };
  const readers = pagesOfFrontEnds(dependencies.config);
  return [{ path: paths.cmsLogin, action: 'start', readers, isLimited: false, handle }];
}
