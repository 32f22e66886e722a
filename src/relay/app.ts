import Router from '@koa/router';
import Koa from 'koa';
import { RelayError } from '../failures/relay-error.ts';
import { closeIfUnread } from '../http/body.ts';
import { type Handler, inOrder, type RequestState } from '../http/context.ts';
import { makePublic, type Readers } from '../http/cors.ts';
import { type AnswerFailure, answering, errorResponder } from '../http/error-responder.ts';
import { rateLimit } from '../http/rate-limit.ts';
import { checkHeaders, rewriteToOriginForm, withoutBasePath } from '../http/request-guards.ts';
import { responseHeaders } from '../http/response-headers.ts';
import { loggedAddresses } from '../observability/logged-address.ts';
import { warnOfForeignOrigins, warnOfForeignPages, warnOfOtherHosts } from '../observability/occasional-warnings.ts';
import { type RequestRecord, recordRequests } from '../observability/request-log.ts';
import { doorPaths, namesInPath } from '../paths.ts';
import { sendPassedBodies } from '../routes/pass-on.ts';
import { createApiPaths } from './api-paths.ts';
import { createBrowserDoors, doorPlacesOf } from './browser-doors.ts';
import { createHandler, type Endpoint, type EndpointContext } from './endpoint.ts';
import { createEndpoints, type EndpointDependencies } from './endpoints.ts';
import { createGateways } from './gateways.ts';
import { isGuessOfMetadata, pagesOfFrontEnds } from './readers.ts';

/** The parts of the application. Their owner creates and closes them. */
interface Dependencies extends Omit<EndpointDependencies, 'watchStarts' | 'rateLimits'> {
  readonly observers: readonly ((record: RequestRecord) => void)[];
}

/** Creates the relay as a Koa application: its middleware in order, and its endpoints. */
export function createApp(dependencies: Dependencies): Koa<RequestState> {
  const { config, logger, memory, served, observers, readiness, sessionRequests } = dependencies;
  const { frontEnds, rateLimit: perMinute } = config;
  const rateLimits = perMinute === undefined ? [] : [rateLimit(perMinute, config.trustedProxies, memory.home)];
  const context: EndpointContext = { watchOrigins: watchOrigins(dependencies), rateLimits };
  const endpoints = createEndpoints({ ...dependencies, rateLimits, watchStarts: watchStarts(dependencies) });
  const doorPlaces = doorPlacesOf(served);
  const doors = served.flatMap((one) => one.doors);
  const gateways = createGateways(config, doors, doorPlaces, memory.streams, logger);
  const apiPaths = createApiPaths(config, sessionRequests, context);
  for (const one of served) memory.callbackPaths.set(one.callbackPath, true, Number.POSITIVE_INFINITY);
  const loggedNames = {
    registration: served.length > 1,
    frontEnd: frontEnds.length > 1,
    person: config.logPeople,
  };

  const addressOf = loggedAddresses(config.logClientAddress, config.trustedProxies).of;
  const app = createKoa(readiness, served[0].frontEnds.first.answerFailure, [
    sendPassedBodies,
    recordRequests(observers, addressOf, loggedNames),
  ]);
  if (doorPlaces.length > 0) app.use(createBrowserDoors(doorPlaces, context));
  if (gateways !== undefined) app.use(gateways.route);
  const { pathname } = new URL(config.baseUrl);
  app.use(routeFrequent(endpoints, context, pathname === '/' ? '' : pathname));
  if (pathname !== '/') {
    const known = new Set(endpoints.filter(({ action }) => action !== undefined).map(({ path }) => path));
    const isOld = (path: string) => memory.callbackPaths.get(path) === true;
    app.use(withoutBasePath(pathname, (path) => known.has(path) || apiPaths?.has(path) === true || isOld(path)));
  }
  if (apiPaths !== undefined) app.use(apiPaths.route);
  const others = endpoints.filter(({ isFrequent }) => !isFrequent);
  app.use(createRouter(others, context).routes());
  app.use(createHandler(notFound(dependencies), context));
  return app;
}

/**
 * Creates an application with the middleware before every endpoint.
 *
 * @param otherwise answers failures that no endpoint answers
 */
export function createKoa(
  relay: Parameters<typeof responseHeaders>[0],
  otherwise: AnswerFailure,
  first: readonly Handler[] = [],
): Koa<RequestState> {
  // Otherwise, Koa reads NODE_ENV.
  const app = new Koa<RequestState>({ env: 'production' });
  // Otherwise, Koa writes broken connections to standard error. The log has a line for each.
  app.silent = true;
  for (const handler of first) app.use(handler);
  app.use(closeIfUnread);
  app.use(responseHeaders(relay));
  app.use(errorResponder(otherwise));
  app.use(checkHeaders);
  app.use(rewriteToOriginForm);
  return app;
}

/** Answers at the endpoints that are asked before each request to a resource. @param base a path that proxies may pass on */
function routeFrequent(endpoints: readonly Endpoint[], context: EndpointContext, base: string): Handler {
  const frequent = endpoints.filter(({ isFrequent }) => isFrequent);
  const handlers = new Map(
    frequent.flatMap((endpoint) => {
      const handle = createHandler(endpoint, context);
      return [endpoint.path, base + endpoint.path].map((path) => [path, handle] as const);
    }),
  );
  return (ctx, next) => handlers.get(ctx.path)?.(ctx, next) ?? next();
}

/** Compares the path of a request with those of the endpoints, once. */
export function createRouter(endpoints: readonly Endpoint[], context: EndpointContext): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  for (const endpoint of endpoints) {
    // The path of a resource's URL may contain characters with a meaning for the router.
    const path = endpoint.path.replace(/[{}()[\]+?!:*\\]/g, '\\$&');
    router.all(endpoint.includesBelow ? `${path}/{*below}` : path, createHandler(endpoint, context));
  }
  return router;
}

function notFound({ config, memory, served }: Dependencies): Endpoint {
  const { answerInPlace } = served[0].frontEnds.first;
  const { hasOrigin } = pagesOfFrontEnds(config);
  return {
    path: '',
    action: undefined,
    readers: { hasOrigin, all: isGuessOfMetadata },
    isLimited: false,
    handle(ctx) {
      if (isGuessOfMetadata(ctx) && !hasOrigin(ctx.get('Origin'))) makePublic(ctx);
      // A login may have started before a reload removed its registration or resource, or changed the callback path.
      const isOfLogin = ctx.path === doorPaths.callback || namesInPath(ctx.path).below === 'callback';
      const isCallback = isOfLogin || memory.callbackPaths.get(ctx.path) === true;
      if (!config.registrationsAreNamed || !isCallback) throw new RelayError('not_found');
      return answering(answerInPlace, () => {
        throw new RelayError('front_end_gone');
      });
    },
  };
}

/** Warns about requests of pages that belong to no front end, unless every page may read the response. */
function watchOrigins({ config, logger, served }: Dependencies): EndpointContext['watchOrigins'] {
  const { frontEnds } = config;
  const { hasOrigin } = pagesOfFrontEnds(config);
  const onlyOrigin = frontEnds.length === 1 ? frontEnds[0]?.origin : undefined;
  const areAnywhere = served.some((one) => one.frontEnds.areAnywhere);
  const warn = warnOfForeignOrigins(logger, hasOrigin, onlyOrigin);
  return ({ all }: Readers) => {
    if (areAnywhere || all === true) return (_, next) => next();
    return typeof all === 'function' ? (ctx, next) => (all(ctx) ? next() : warn(ctx, next)) : warn;
  };
}

/** Warns about logins that start under another host name, or from another page, than the configured ones. */
function watchStarts({ config, logger }: Dependencies): Handler {
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
