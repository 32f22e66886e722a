import Router from '@koa/router';
import Koa from 'koa';
import { RelayError } from '../failures/relay-error.ts';
import { closeIfUnread } from '../http/body.ts';
import { type Action, type Context, claimedQuery, type Handler, inOrder, type RequestState } from '../http/context.ts';
import { cors } from '../http/cors.ts';
import { answering, errorResponder } from '../http/error-responder.ts';
import { rateLimit } from '../http/rate-limit.ts';
import { checkHeaders, toOriginForm, withoutBasePath } from '../http/request-guards.ts';
import { responseHeaders } from '../http/response-headers.ts';
import { loggedAddresses } from '../observability/logged-address.ts';
import { warnOfForeignOrigins, warnOfForeignPages, warnOfOtherHosts } from '../observability/occasional-warnings.ts';
import { type RequestRecord, recordRequests } from '../observability/request-log.ts';
import { namesInPath, paths } from '../paths.ts';
import { createApiPaths } from './api-paths.ts';
import { type CommonDependencies, commonRoutes, originsOfFrontEnds } from './common-routes.ts';
import { createGateways } from './gateways.ts';
import { createLoginRoutes, type LoginRoutes } from './login-routes.ts';
import { type ServedRegistration, wordsOf } from './registrations.ts';
import { resourceRoutes } from './resource-routes.ts';

/** What the application needs. Its owner creates and closes it. */
interface Dependencies extends CommonDependencies {
  /** Called with every request once it is over. */
  readonly observers: readonly ((record: RequestRecord) => void)[];
}

/** Creates the relay as a Koa application: its middleware and routes, in order. */
export function createApp(dependencies: Dependencies): Koa<RequestState> {
  const { config, logger, memory, served, observers, readiness, sessionRequests } = dependencies;
  const { frontEnds, registrationsAreNamed, rateLimit: perMinute } = config;
  const rateLimits = perMinute === undefined ? [] : [rateLimit(perMinute, config.trustedProxies, memory.home)];
  const logins = createLoginRoutes(served, {
    baseUrl: config.baseUrl,
    rateLimits,
    watchStarts: watchStarts(dependencies),
  });
  const apiPaths = createApiPaths(config, sessionRequests, rateLimits);
  const readers = createReaders(dependencies, logins, apiPaths);
  const routes = new Map(
    Object.entries({
      ...commonRoutes(dependencies, rateLimits),
      ...(logins.startOfCms && { [paths.cmsLogin]: logins.startOfCms }),
      ...resourceRoutes(served),
    }),
  );
  const gateways = createGateways(
    config,
    served.flatMap(({ doors }) => doors),
    memory.streams,
    logger,
  );
  const onlyOrigin = frontEnds.length === 1 ? frontEnds[0].origin : undefined;
  const loggedNames = {
    registration: served.length > 1,
    frontEnd: frontEnds.length > 1,
    person: config.logPeople,
  };
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  for (const [path, { handle }] of routes) router.all(path, handle);

  // Otherwise Koa reads NODE_ENV.
  const app = new Koa<RequestState>({ env: 'production' });
  // Otherwise Koa writes broken connections to standard error. The log has a line for each.
  app.silent = true;
  app.use(recordRequests(observers, loggedAddresses(config.logClientAddress, config.trustedProxies).of, loggedNames));
  app.use(closeIfUnread);
  app.use(responseHeaders(readiness));
  app.use(errorResponder(served[0].frontEnds.first.answerFailure));
  app.use(checkHeaders);
  app.use(toOriginForm);
  if (gateways !== undefined) app.use(gateways.route);
  const routeOf = (path: string) => routes.get(path) ?? logins.find(path).route;
  const exists = (path: string) => (routeOf(path) ?? apiPaths?.find(path)) !== undefined;
  const { pathname } = new URL(config.baseUrl);
  if (pathname !== '/') app.use(withoutBasePath(pathname, exists));
  app.use((ctx, next) => {
    ctx.state.action = routeOf(ctx.path)?.action;
    return next();
  });
  app.use(warnOfForeignOrigins(logger, readers.areKnown, onlyOrigin));
  app.use(cors(readers.mayRead, readers.mayAllRead));
  if (apiPaths !== undefined) app.use(apiPaths.route);
  app.use(router.routes());
  app.use(logins.answer);
  app.use((ctx) => {
    // A login may have started here before a reload removed its registration.
    const endsLogin = registrationsAreNamed && namesInPath(ctx.path).below === 'callback';
    if (!endsLogin) throw new RelayError('not_found');
    return answering(served[0].frontEnds.first.answerInPlace, () => {
      throw new RelayError('front_end_gone');
    });
  });
  return app;
}

/** Warns of logins that start under another host name, or from another page, than the configured ones. */
function watchStarts({ config: { baseUrl, frontEnds }, logger }: Dependencies): Handler {
  const isOfFrontEnd = originsOfFrontEnds(frontEnds);
  const { origin: ownOrigin } = new URL(baseUrl);
  const byName = new Map(frontEnds.map((frontEnd) => [frontEnd.name, frontEnd]));
  return inOrder(
    warnOfOtherHosts(logger, baseUrl),
    warnOfForeignPages(
      logger,
      (origin) => origin === ownOrigin || isOfFrontEnd(origin),
      (name) => byName.get(name)?.origin,
    ),
  );
}

/**
 * Says which pages may read a response. Those of its front ends may, if it belongs to a registration, to sessions or to
 * an API. Otherwise, those of all front ends may.
 */
function createReaders(
  { config: { frontEnds }, served, sessionRequests }: Dependencies,
  logins: LoginRoutes,
  apiPaths: ReturnType<typeof createApiPaths>,
) {
  const isOfAnyFrontEnd = originsOfFrontEnds(frontEnds);
  const areAnywhere = served.some((one) => one.frontEnds.areAnywhere);
  return {
    /** Whether requests from pages of this origin need no warning. */
    areKnown: (origin: string, { state: { action } }: Context): boolean =>
      areAnywhere || isOfAnyFrontEnd(origin) || ofAllPages.has(action),
    mayRead({ path, state: { action } }: Context, origin: string): boolean {
      // A reverse proxy asks with the method of the request that is to pass. If that is a preflight, our 204 to a
      // preflight would tell the proxy to let it pass, without a token.
      if (action === 'check') return false;
      const readers = ofSessions.has(action)
        ? sessionRequests
        : (apiPaths?.find(path) ?? logins.find(path).served?.frontEnds);
      return readers === undefined ? isOfAnyFrontEnd(origin) : readers.hasOrigin(origin);
    },
    /** Whether all pages may read, until the client of the request is known: then, `expectOrigin` lets only its own. */
    mayAllRead(ctx: Context): boolean {
      const { action } = ctx.state;
      if (ofAllPages.has(action)) return true;
      // A lookup names no client: it is enough that clients on any page may log in at its provider.
      if (action === 'user') {
        const { provider } = claimedQuery(ctx);
        const isMeant = (one: ServedRegistration) =>
          provider === undefined || wordsOf(one).some((word) => word === provider);
        return served.some((one) => one.frontEnds.areAnywhere && isMeant(one));
      }
      return ofClients.has(action) && logins.find(ctx.path).served?.frontEnds.areAnywhere === true;
    },
  };
}

const ofSessions: ReadonlySet<Action | undefined> = new Set(['session', 'session-refresh', 'logout']);
/** Metadata lead clients on any page to the login. */
const ofAllPages: ReadonlySet<Action | undefined> = new Set(['metadata', 'resource-metadata']);
/** The endpoints that clients call themselves. */
const ofClients: ReadonlySet<Action | undefined> = new Set(['token', 'revoke', 'register']);
