import type { Next } from 'koa';
import type { Logger } from 'pino';
import { createFrontEnds, type FrontEnds } from '../front-ends/front-ends.ts';
import { type Context, claimedQuery, type Handler, inOrder } from '../http/context.ts';
import type { Readers } from '../http/cors.ts';
import { answerFailures, answerOAuthErrors, answerSessionFailures } from '../http/error-responder.ts';
import { createForwarded } from '../http/forwarded-request.ts';
import { allowMethods, refusePrefetch } from '../http/request-guards.ts';
import { checkPath, paths, registrationPath } from '../paths.ts';
import { registrationOfCms } from '../providers/cms.ts';
import { clientFiles } from '../routes/browser-client.ts';
import { consentEndpoint } from '../routes/consent.ts';
import { currentUser } from '../routes/current-user.ts';
import { alive, type Readiness, ready } from '../routes/health.ts';
import { home } from '../routes/home.ts';
import { introspectionEndpoint } from '../routes/introspect.ts';
import { deliverCallbackFailures, loginCallback } from '../routes/login-callback.ts';
import { answerWithChallenge, checkRequest } from '../routes/protected-resource.ts';
import { clientRegistrationEndpoint } from '../routes/register-client.ts';
import { revocationEndpoint } from '../routes/revoke.ts';
import { metadataPaths, serverMetadata } from '../routes/server-metadata.ts';
import { describeSession, logout, refreshSession } from '../routes/session.ts';
import { createSessionLookup } from '../routes/session-lookup.ts';
import { refuseSessions, type SessionRequests } from '../routes/session-requests.ts';
import { startLogin } from '../routes/start-login.ts';
import { cmsTokenEndpoint, tokenEndpoint } from '../routes/token.ts';
import { doorPlacesOf, endpointsOfDoor } from './browser-doors.ts';
import type { Endpoint } from './endpoint.ts';
import { createRegistrationFinder, foreignPages } from './lookups.ts';
import { isGuessOfMetadata, noPages, pagesOfFrontEnds } from './readers.ts';
import { type ServedPath, type ServedRegistration, type ServingContext, wordsOf } from './registrations.ts';
import { resourceMetadataEndpoints } from './resource-metadata.ts';

/** The parts of the endpoints. Their owner creates and closes them. */
export interface EndpointDependencies extends ServingContext {
  readonly logger: Logger;
  readonly served: readonly [ServedRegistration, ...ServedRegistration[]];
  readonly readiness: Readiness;
  readonly sessionRequests: SessionRequests | undefined;
  readonly rateLimits: readonly Handler[];
  /** Warns about logins that start under another host name than the base URL's, or from another page. */
  readonly watchStarts: Handler;
}

/**
 * The endpoints of a relay, in the order of comparison. Resources behind the relay are in `gateways.ts`, and APIs of
 * providers in `api-paths.ts`, because a request below their path belongs to them.
 */
export function createEndpoints(dependencies: EndpointDependencies): readonly Endpoint[] {
  const { served } = dependencies;
  const everyPath = [...served, ...served.flatMap(({ others }) => others)];
  return [
    ...commonEndpoints(dependencies),
    ...(dependencies.sessionRequests
      ? sessionEndpoints(dependencies, dependencies.sessionRequests)
      : noSessions(dependencies)),
    ...startOfCmses(dependencies),
    ...resourceEndpoints(dependencies),
    ...[...Map.groupBy(everyPath, ({ callbackPath }) => callbackPath)].map(callbackEndpoint),
    ...everyPath.flatMap((one) => registrationEndpoints(one, dependencies)),
  ];
}

const reading = ['GET', 'HEAD'] as const;

function commonEndpoints(dependencies: EndpointDependencies): Endpoint[] {
  const { config, pages, memory, served, readiness, sessionRequests } = dependencies;
  const lookup = sessionRequests && createSessionLookup(sessionRequests, memory.grants.refreshes, memory.home.now);
  const readers = pagesOfFrontEnds(config);
  const [onlyPage, second] = config.frontEnds.flatMap(({ frontendUrl }) => frontendUrl ?? []);
  const findRegistration = config.registrationsAreNamed
    ? createRegistrationFinder(served, new URL(config.baseUrl))
    : () => served[0].registration;
  const open = { methods: reading, readers, isLimited: false };
  return [
    {
      path: paths.user,
      action: 'user',
      methods: reading,
      readers: { ...readers, all: (ctx) => mayAllReadUser(ctx, served) },
      isLimited: true,
      handle: currentUser(findRegistration, lookup, foreignPages(config)),
    },
    // For people who only know the host.
    { ...open, path: '/', action: 'home', handle: home(pages, readiness, second ? undefined : onlyPage) },
    { ...open, path: paths.alive, action: 'probe', handle: alive },
    { ...open, path: paths.ready, action: 'probe', handle: ready(readiness) },
    ...Object.entries(clientFiles).map(([path, handle]): Endpoint => ({ ...open, path, action: 'client', handle })),
  ];
}

/** Whether a client on any page may look a user up. The request does not name the client, but perhaps the provider. */
function mayAllReadUser(ctx: Context, served: readonly ServedRegistration[]): boolean {
  const { provider } = claimedQuery(ctx);
  const isMeant = (one: ServedRegistration) => provider === undefined || wordsOf(one).some((word) => word === provider);
  return served.some((one) => one.frontEnds.areAnywhere && isMeant(one));
}

function sessionEndpoints({ memory: { grants } }: EndpointDependencies, requests: SessionRequests): Endpoint[] {
  const ofSession = { readers: requests, failures: answerSessionFailures, isLimited: true };
  return [
    { ...ofSession, path: paths.session, action: 'session', methods: reading, handle: describeSession(requests) },
    {
      ...ofSession,
      path: paths.sessionRefresh,
      action: 'session-refresh',
      methods: ['POST'],
      handle: refreshSession(requests, grants),
    },
    { ...ofSession, path: paths.logout, action: 'logout', methods: ['POST'], handle: logout(requests, grants) },
  ];
}

/** Tells a page why there are no sessions. */
function noSessions({ config }: EndpointDependencies): Endpoint[] {
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

/** The addresses of resources, apart from endpoints of their registrations. */
function resourceEndpoints({ served, config }: EndpointDependencies): Endpoint[] {
  const findAsked = createForwarded(config.trustedProxies);
  const ofBrowsers = doorPlacesOf(served).flatMap((place) => endpointsOfDoor(place, findAsked));
  const checks = served
    .flatMap(({ doors }) => doors)
    .filter(({ resource }) => resource.browser === undefined)
    .map(
      (door): Endpoint => ({
        path: checkPath(door.resource.name),
        isFrequent: true,
        action: 'check',
        // Every method, because some proxies ask with the method of the request. A preflight is no exception: a 204
        // would tell the proxy to let it pass without a token.
        readers: noPages,
        failures: answerWithChallenge(door.resource),
        isLimited: false,
        handle: checkRequest(door),
      }),
    );
  return [...ofBrowsers, ...checks, ...resourceMetadataEndpoints(served)];
}

/**
 * Where the provider sends browsers back to. If several paths of a registration share it, the state tells at which one
 * a login began. The first one answers callbacks without the state of another.
 */
function callbackEndpoint([path, there]: [path: string, there: readonly ServedPath[]]): Endpoint {
  const [first, ...others] = there.map((served) => ({
    served,
    deliverFailures: deliverCallbackFailures(served),
    end: loginCallback(served),
  }));
  if (first === undefined) throw new Error('a callback belongs to a path');
  const findOwn = (ctx: Context) => others.find(({ served }) => served.isOwnCallback(ctx)) ?? first;
  return {
    path,
    action: 'callback',
    methods: ['GET'],
    readers: first.served.frontEnds,
    failures: inOrder(enterRegistration(first.served), (ctx, next) => findOwn(ctx).deliverFailures(ctx, next)),
    guards: [refusePrefetch],
    isLimited: true,
    handle: (ctx, next) => findOwn(ctx).end(ctx, next),
  };
}

function registrationEndpoints(served: ServedPath, dependencies: EndpointDependencies): Endpoint[] {
  const { registration, frontEnds, word } = served;
  const path = registrationPath(word);
  const failures = enterRegistration(served);
  const start = {
    readers: frontEnds,
    failures,
    action: 'start',
    isLimited: false,
    handle: createStart(served, frontEnds, dependencies),
  } as const;
  return [
    { ...start, path },
    // Without a state check, a code could be redeemed in another browser than the login's.
    ...(registration.protection ? oauthEndpoints(served, path, dependencies) : []),
    ...frontEnds.names.map((name) => ({ ...start, path: `${path}/${name}`, route: `${path}/:frontEnd` })),
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
function oauthEndpoints(served: ServedPath, path: string, { config: { baseUrl } }: EndpointDependencies): Endpoint[] {
  const { frontEnds, doors } = served;
  const { clients } = frontEnds;
  const enter = enterRegistration(served);
  const ofPrograms = { methods: ['POST'], failures: inOrder(enter, answerOAuthErrors), isLimited: true };
  // Clients on any page may call until the client of the request is known. Then `expectOrigin` only lets its own pages
  // read.
  const ofClients: Readers = { hasOrigin: frontEnds.hasOrigin, all: frontEnds.areAnywhere };
  const endpoints: (Endpoint | false | undefined)[] = [
    { ...ofPrograms, path: `${path}/token`, action: 'token', readers: ofClients, handle: tokenEndpoint(served) },
    { ...ofPrograms, path: `${path}/revoke`, action: 'revoke', readers: ofClients, handle: revocationEndpoint(served) },
    doors.some(({ resource }) => resource.secrets.length > 0) && {
      ...ofPrograms,
      path: `${path}/introspect`,
      action: 'introspect',
      readers: frontEnds,
      // No rate limit, because a server has one address for all its people.
      isLimited: false,
      handle: introspectionEndpoint(served),
    },
    clients?.takesNewClients && {
      ...ofPrograms,
      path: `${path}/register`,
      action: 'register',
      readers: ofClients,
      handle: clientRegistrationEndpoint(clients, served),
    },
    (clients?.takesNewClients || clients?.takesDocuments) && {
      path: `${path}/consent`,
      action: 'consent',
      methods: ['POST'],
      readers: frontEnds,
      failures: enter,
      isLimited: true,
      handle: consentEndpoint(served),
    },
    ...[...metadataPaths(baseUrl, path)].map(
      (place): Endpoint => ({
        path: place,
        action: 'metadata',
        methods: reading,
        // Metadata lead clients on every page to the login.
        readers: { hasOrigin: frontEnds.hasOrigin, all: true },
        failures: enter,
        isLimited: false,
        handle: serverMetadata(served),
      }),
    ),
  ];
  return endpoints.filter((endpoint) => typeof endpoint === 'object');
}

/** Records the registration of a request. Its first front end answers failures until the request's own is known. */
function enterRegistration({ registration, frontEnds }: ServedPath): Handler {
  const answer = answerFailures(frontEnds.first.answerFailure);
  return (ctx, next) => {
    ctx.state.registration = registration.name;
    return answer(ctx, next);
  };
}

/**
 * The handler where logins of these front ends start. A CMS also refreshes there, with another method and other
 * failures.
 */
function createStart(
  served: ServedPath,
  frontEnds: FrontEnds,
  { watchStarts, rateLimits }: EndpointDependencies,
): Handler {
  const watch = served.registration.protection === undefined ? [] : [watchStarts];
  const start = inOrder(allowMethods('GET'), refusePrefetch, ...watch, startLogin(served, frontEnds));
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

/** Where CMSes start by default: at the first path of a registration with a CMS. */
function startOfCmses(dependencies: EndpointDependencies): Endpoint[] {
  const starts = dependencies.served.flatMap((served) => {
    const { firstCms } = served.frontEnds;
    if (firstCms === undefined) return [];
    const { name } = served.registration;
    const handle = inOrder(enterRegistration(served), createStart(served, createFrontEnds([firstCms]), dependencies));
    return [{ name, backend: firstCms.cmsBackend, handle }];
  });
  if (starts.length === 0) return [];
  const handle = (ctx: Context, next: Next) => {
    // For a refresh, Sveltia CMS does not name its backend. It starts here only at GitHub.
    const backend = ctx.method === 'POST' ? 'github' : claimedQuery(ctx)['provider'];
    const found = registrationOfCms(starts, backend);
    return found === undefined ? next() : found.handle(ctx, next);
  };
  const readers = pagesOfFrontEnds(dependencies.config);
  return [{ path: paths.cmsLogin, action: 'start', readers, isLimited: false, handle }];
}
