import Router from '@koa/router';
import Koa from 'koa';
import type { DoorHost } from '../browsers/browser-door.ts';
import { opensPage } from '../browsers/browser-request.ts';
import { RelayError } from '../failures/relay-error.ts';
import { closeIfBodyUnread } from '../http/body.ts';
import { type Context, type Handler, inOrder, type RequestState } from '../http/context.ts';
import { makePublic, type Readers } from '../http/cors.ts';
import { type AnswerFailure, errorResponder, withFailureAnswer } from '../http/error-responder.ts';
import { rateLimit } from '../http/rate-limit.ts';
import { checkHeaders, removeBasePath, rewriteToOriginForm } from '../http/request-guards.ts';
import { responseHeaders } from '../http/response-headers.ts';
import { createLoggedAddresses } from '../observability/logged-address.ts';
import { warnOfForeignOrigins, warnOfForeignPages, warnOfOtherHosts } from '../observability/occasional-warnings.ts';
import { type RequestRecord, recordRequests } from '../observability/request-log.ts';
import { doorPaths, namesInPath, ownPrefix, resourceInDoorStart } from '../paths.ts';
import { answerWhereNothingIs, answerWithWayToResource } from '../routes/enter-door.ts';
import { sendPassedBodies } from '../routes/pass-on.ts';
import { createApiPaths } from './api-paths.ts';
import { createBrowserDoors, createDoorHosts } from './browser-doors.ts';
import { createHandler, type Endpoint, type EndpointContext } from './endpoint.ts';
import { createEndpoints, type EndpointDependencies } from './endpoints.ts';
import { createGateways } from './gateways.ts';
import { doorsOfResources } from './group-by-resource.ts';
import { createHostFailure, findHostnames } from './known-hosts.ts';
import { isGuessOfMetadata, pagesOfFrontEnds } from './readers.ts';

/** The parts of the application. Their owner creates and closes them. */
interface Dependencies extends Omit<EndpointDependencies, 'warnOfStarts' | 'rateLimits' | 'resources' | 'doorHosts'> {
  readonly observers: readonly ((record: RequestRecord) => void)[];
}

/**
 * Creates the relay as a Koa application. Doors and gateways come first, because every address of their hosts belongs to
 * the application behind them, also one that looks like an address of the relay.
 */
export function createApp(dependencies: Dependencies): Koa<RequestState> {
  const { config, logger, memory, served, observers, readiness, sessionRequests } = dependencies;
  const { frontEnds, rateLimit: perMinute } = config;
  const rateLimits = perMinute === undefined ? [] : [rateLimit(perMinute, config.trustedProxies, memory.home)];
  const context: EndpointContext = { createOriginWarning: prepareOriginWarnings(dependencies), rateLimits };
  const resources = doorsOfResources(served);
  const doorHosts = createDoorHosts(served);
  const forEndpoints = { rateLimits, warnOfStarts: createStartWarnings(dependencies), resources, doorHosts };
  const endpoints = createEndpoints({ ...dependencies, ...forEndpoints });
  const gateways = createGateways(config, resources, doorHosts, memory.streams, logger);
  const apiPaths = createApiPaths(config, sessionRequests, context);
  // A login that began before a reload returns to the earlier callback path, so the memory outlives this application.
  for (const { callbackPath } of served) memory.callbackPaths.set(callbackPath, true, Number.POSITIVE_INFINITY);
  for (const { origin } of doorHosts)
    memory.doorHostnames.set(new URL(origin).hostname, true, Number.POSITIVE_INFINITY);
  const loggedNames = {
    registration: served.length > 1,
    frontEnd: frontEnds.length > 1,
    person: config.logPeople,
  };

  const app = createKoa(readiness, served[0].frontEnds.first.answerFailure, [
    sendPassedBodies,
    recordRequests(observers, createLoggedAddresses(config.logClientAddress, config.trustedProxies), loggedNames),
  ]);
  if (doorHosts.length > 0) app.use(createBrowserDoors(doorHosts, context));
  if (gateways !== undefined) app.use(gateways.route);
  const { pathname } = new URL(config.baseUrl);
  app.use(createFrequentRoutes(endpoints, context, pathname === '/' ? '' : pathname));
  if (pathname !== '/') {
    // A row without an action only answers the failures of addresses below a registration at which nothing is.
    const pathsOfEndpoints = new Set(endpoints.filter(({ action }) => action !== undefined).map(({ path }) => path));
    const isOrWasCallback = (path: string) => memory.callbackPaths.get(path) === true;
    /** Whether something is at the path of a request even before the path of the base URL is removed from it. */
    const exists = (path: string) =>
      pathsOfEndpoints.has(path) || apiPaths?.has(path) === true || isOrWasCallback(path);
    app.use(removeBasePath(pathname, exists));
  }
  if (apiPaths !== undefined) app.use(apiPaths.route);
  const infrequent = endpoints.filter(({ isFrequent }) => !isFrequent);
  addEndpoints(app, infrequent, context);
  app.use(createHandler(createNotFound(dependencies, doorHosts, findHostnames(config, resources)), context));
  return app;
}

/**
 * Creates an application with the middleware before every endpoint.
 *
 * @param answerByDefault answers failures that no endpoint answers
 * @param first handlers that run before all others
 */
export function createKoa(
  relay: Parameters<typeof responseHeaders>[0],
  answerByDefault: AnswerFailure,
  first: readonly Handler[] = [],
): Koa<RequestState> {
  // Koa must not read NODE_ENV.
  const app = new Koa<RequestState>({ env: 'production' });
  // Koa must not write broken connections to standard error, because the log has a line for each.
  app.silent = true;
  for (const handler of first) app.use(handler);
  app.use(closeIfBodyUnread);
  app.use(responseHeaders(relay));
  app.use(errorResponder(answerByDefault));
  app.use(checkHeaders);
  app.use(rewriteToOriginForm);
  return app;
}

/**
 * Routes requests to the endpoints that are asked before each request to a resource.
 *
 * @param basePath the path of the base URL, which some proxies remove
 */
function createFrequentRoutes(endpoints: readonly Endpoint[], context: EndpointContext, basePath: string): Handler {
  const frequent = endpoints.filter(({ isFrequent }) => isFrequent);
  const handlers = new Map(
    frequent.flatMap((endpoint): [path: string, handle: Handler][] => {
      const handle = createHandler(endpoint, context);
      return [
        [endpoint.path, handle],
        [basePath + endpoint.path, handle],
      ];
    }),
  );
  return routeByPath(handlers);
}

/**
 * Adds endpoints to an application. An endpoint of a single path is found in a map, because the router compares a path
 * with all others, one after the other: with a hundred providers and a thousand front ends, that took 30 ms.
 */
export function addEndpoints(app: Koa<RequestState>, endpoints: readonly Endpoint[], context: EndpointContext): void {
  const handlers = new Map<string, Handler>();
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  for (const endpoint of endpoints) {
    const handle = createHandler(endpoint, context);
    if (endpoint.includesBelow) {
      // The path may contain characters with a meaning for the router.
      const path = endpoint.path.replace(/[{}()[\]+?!:*\\]/g, '\\$&');
      router.all(`${path}/{*below}`, handle);
    } else if (!handlers.has(endpoint.path)) {
      handlers.set(endpoint.path, handle);
    }
  }
  app.use(routeByPath(handlers));
  app.use(router.routes());
}

const routeByPath =
  (handlers: ReadonlyMap<string, Handler>): Handler =>
  (ctx, next) => {
    const handle = handlers.get(ctx.path);
    return handle === undefined ? next() : handle(ctx, next);
  };

/**
 * Creates the endpoint of all paths at which nothing is. It runs last, and its own path is not compared.
 *
 * @param hostnames of the login and of all resources
 */
function createNotFound(
  { config, memory, served }: Dependencies,
  doorHosts: readonly DoorHost[],
  hostnames: ReadonlySet<string>,
): Endpoint {
  const hostFailure = createHostFailure(config, hostnames);
  // A proxy that changes the Host sends the end of a browser's login here.
  const isOfOtherHost = ({ hostname }: Context) => memory.doorHostnames.get(hostname.toLowerCase()) === undefined;
  const [{ frontEnds, pages }] = served;
  const { answerInPlace } = frontEnds.first;
  const { hasOrigin } = pagesOfFrontEnds(config);
  return {
    path: '',
    action: undefined,
    readers: { hasOrigin, all: isGuessOfMetadata },
    isLimited: false,
    handle(ctx) {
      if (isGuessOfMetadata(ctx) && !hasOrigin(ctx.get('Origin'))) makePublic(ctx);
      // A login may have started before a reload removed its registration or resource, or changed the callback path.
      const looksLikeCallback = ctx.path === doorPaths.callback || namesInPath(ctx.path).below === 'callback';
      const isCallback = looksLikeCallback || memory.callbackPaths.get(ctx.path) === true;
      // A page that was open during the reload may still link to the start of a login for a resource.
      const doorName = resourceInDoorStart(ctx.path);
      if (doorName !== undefined && opensPage(ctx)) {
        const host = doorHosts.find(({ resource }) => resource.name === doorName);
        return withFailureAnswer(host === undefined ? answerInPlace : answerWithWayToResource(host), () => {
          throw new RelayError('front_end_gone');
        });
      }
      // A person may log out after a reload has removed the resource.
      if (ctx.path.startsWith(ownPrefix) && !isCallback) {
        return withFailureAnswer(answerWhereNothingIs(pages), () => {
          throw new RelayError('not_found');
        });
      }
      if (!config.registrationsAreNamed || !isCallback) throw new RelayError('not_found');
      const hasOtherHost = ctx.path === doorPaths.callback && doorHosts.length > 0 && isOfOtherHost(ctx);
      return withFailureAnswer(answerInPlace, () => {
        throw hasOtherHost ? hostFailure(ctx) : new RelayError('front_end_gone');
      });
    },
  };
}

/**
 * Returns a function that creates, for an endpoint, the middleware that warns about pages of no front end. It does not
 * warn if every page may read the response to a request.
 */
function prepareOriginWarnings({ config, logger, served }: Dependencies): EndpointContext['createOriginWarning'] {
  const { frontEnds } = config;
  const { hasOrigin } = pagesOfFrontEnds(config);
  const onlyOrigin = frontEnds.length === 1 ? frontEnds[0]?.origin : undefined;
  const takesAnyOrigin = served.some((registration) => registration.frontEnds.takesAnyOrigin);
  const warn = warnOfForeignOrigins(logger, hasOrigin, onlyOrigin);
  return ({ all: mayAllRead }: Readers) => {
    if (takesAnyOrigin || mayAllRead === true) return (_, next) => next();
    if (typeof mayAllRead !== 'function') return warn;
    return (ctx, next) => (mayAllRead(ctx) ? next() : warn(ctx, next));
  };
}

/** Creates the warnings about logins that start under another host name, or from another page, than configured. */
function createStartWarnings({ config, logger }: Dependencies): Handler {
  const { baseUrl, frontEnds } = config;
  const { hasOrigin } = pagesOfFrontEnds(config);
  const { origin: ownOrigin } = new URL(baseUrl);
  const byName = new Map(frontEnds.map((frontEnd) => [frontEnd.name, frontEnd]));
  return inOrder(
    warnOfOtherHosts(logger, baseUrl),
    warnOfForeignPages(
      logger,
      (origin) => origin === ownOrigin || hasOrigin(origin),
      (name) => byName.get(name)?.origins.join(', ') || undefined,
    ),
  );
}
