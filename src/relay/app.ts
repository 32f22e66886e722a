import type { IncomingHttpHeaders } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import type { Config } from '../config/config.ts';
import { RelayError } from '../failures/relay-error.ts';
import { ignoreBody } from '../http/body.ts';
import { loggedAddresses } from '../http/client-address.ts';
import {
  type Action,
  type Context,
  claimedQuery,
  type Handler,
  inOrder,
  type RequestState,
  type Route,
} from '../http/context.ts';
import { cors } from '../http/cors.ts';
import { answering, answerSessionFailures, errorResponder } from '../http/error-responder.ts';
import { rateLimit } from '../http/rate-limit.ts';
import { checkHeaders, methods, originForm } from '../http/request-guards.ts';
import { responseHeaders } from '../http/response-headers.ts';
import type { RegistrationSource } from '../login/registration.ts';
import type { Query } from '../oauth/query.ts';
import {
  warnOfForeignOrigins,
  warnOfForeignPages,
  warnOfOtherHosts,
} from '../observability/occasional-warnings.ts';
import { type RequestRecord, recordRequests } from '../observability/request-log.ts';
import { matchesAny, patternsThatAllow } from '../origins/origin-pattern.ts';
import { originsOf } from '../origins/redirect-uri.ts';
import { homePath, namesInPath, paths } from '../paths.ts';
import { clientFiles } from '../routes/client.ts';
import { currentUser } from '../routes/current-user.ts';
import { alive, type Readiness, ready } from '../routes/health.ts';
import { home } from '../routes/home.ts';
import { describeSession, logout, refreshSession } from '../routes/session.ts';
import { originOfPage, refuseSessions, type SessionRequests } from '../routes/session-requests.ts';
import { createApiPaths } from './api-paths.ts';
import { createGateways } from './gateways.ts';
import { createLoginRoutes, type LoginRoutes } from './login-routes.ts';
import type { ServedRegistration, ServingContext } from './registrations.ts';
import { resourceRoutes } from './resource-routes.ts';

/** What the application needs. Its owner creates and closes it. */
interface Dependencies extends ServingContext {
  readonly served: readonly [ServedRegistration, ...ServedRegistration[]];
  /** Called with every request once it is over. */
  readonly observers: readonly ((record: RequestRecord) => void)[];
  readonly readiness: Readiness;
  /** Undefined if no front end has sessions. */
  readonly sessionRequests: SessionRequests | undefined;
}

/** Creates the relay as a Koa application: its middleware and routes, in order. */
export function createApp(dependencies: Dependencies): Koa<RequestState> {
  const { config, logger, memory, served, observers, readiness, sessionRequests } = dependencies;
  const { frontEnds, registrationsAreNamed, rateLimit: perMinute } = config;
  const rateLimits =
    perMinute === undefined ? [] : [rateLimit(perMinute, config.trustedProxies, memory.home)];
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
  );
  const onlyOrigin = frontEnds.length === 1 ? frontEnds[0].origin : undefined;
  const names = {
    registration: served.length > 1,
    frontEnd: frontEnds.length > 1,
    person: config.logPeople,
  };
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  for (const [path, { handle }] of routes) router.all(path, handle);
  router.all(/^\/(auth|\.well-known)\//, logins.answer);

  // Otherwise Koa reads NODE_ENV.
  const app = new Koa<RequestState>({ env: 'production' });
  // Otherwise Koa writes broken connections to standard error. The log has a line for each.
  app.silent = true;
  app.use(recordRequests(observers, loggedAddresses(config).of, names));
  app.use(ignoreBody);
  app.use(responseHeaders(readiness));
  app.use(errorResponder(served[0].frontEnds.first.answerFailure));
  app.use(checkHeaders);
  app.use(originForm);
  if (gateways !== undefined) app.use(gateways.route);
  app.use((ctx, next) => {
    ctx.state.action = (routes.get(ctx.path) ?? logins.find(ctx.path).route)?.action;
    return next();
  });
  app.use(warnOfForeignOrigins(logger, readers.areKnown, onlyOrigin));
  app.use(cors(readers.mayRead, readers.mayAllRead));
  if (apiPaths !== undefined) app.use(apiPaths.route);
  app.use(router.routes());
  app.use((ctx) => {
    // A login may have started here before a reload removed its registration.
    if (!registrationsAreNamed || namesInPath(ctx.path).below !== 'callback') {
      throw new RelayError('not_found');
    }
    return answering(served[0].frontEnds.first.answerInPlace, () => {
      throw new RelayError('front_end_gone');
    });
  });
  return app;
}

/** Tells requests of pages that are neither a front end's nor the relay's own. Those of programs have no page. */
function foreignPages({ baseUrl, frontEnds }: Config): (ctx: Context) => boolean {
  const hasOrigin = matchesAny(frontEnds.flatMap(originsOf));
  const { origin: own } = new URL(baseUrl);
  return ({ req: { headers } }) => {
    const { origin, 'sec-fetch-site': site } = headers;
    return origin === undefined ? site === 'cross-site' : origin !== own && !hasOrigin(origin);
  };
}

/** Warns of logins that start under another host name, or from another page, than the configured ones. */
function watchStarts({ config: { baseUrl, frontEnds }, logger }: Dependencies): Handler {
  const hasOrigin = matchesAny(frontEnds.flatMap(originsOf));
  const { origin: ownOrigin } = new URL(baseUrl);
  const byName = new Map(frontEnds.map((frontEnd) => [frontEnd.name, frontEnd]));
  return inOrder(
    warnOfOtherHosts(logger, baseUrl),
    warnOfForeignPages(
      logger,
      (origin) => origin === ownOrigin || hasOrigin(origin),
      (name) => byName.get(name)?.origin,
    ),
  );
}

/** The routes that belong to no registration, by path. */
function commonRoutes(
  { config, pages, memory: { grants }, ...others }: Dependencies,
  rateLimits: readonly Handler[],
): Readonly<Record<string, Route>> {
  const reading = (action: Action, ...handlers: Handler[]): Route => ({
    action,
    handle: inOrder(methods('GET', 'HEAD'), ...handlers),
  });
  const ofSession = (action: Action, method: Handler, endpoint: Handler): Route => ({
    action,
    handle: inOrder(answerSessionFailures, method, ...rateLimits, endpoint),
  });
  const { served, readiness, sessionRequests: requests } = others;
  const [onlyPage, second] = config.frontEnds.flatMap(({ frontendUrl }) => frontendUrl ?? []);
  const isForeign = foreignPages(config);
  const findRegistration = config.registrationsAreNamed
    ? registrationsOfLookups(served, new URL(config.baseUrl))
    : () => served[0].registration;
  return {
    [paths.user]: reading(
      'user',
      ...rateLimits,
      currentUser(findRegistration, requests, isForeign),
    ),
    [homePath]: reading('home', home(pages, readiness, second ? undefined : onlyPage)),
    [paths.alive]: reading('probe', alive),
    [paths.ready]: reading('probe', ready(readiness)),
    ...Object.fromEntries(
      Object.entries(clientFiles).map(([path, file]) => [path, reading('client', file)]),
    ),
    ...(requests === undefined &&
      Object.fromEntries(
        [paths.session, paths.sessionRefresh, paths.logout].map((path) => [
          path,
          ofSession('session', methods('GET', 'HEAD', 'POST'), refuseSessions),
        ]),
      )),
    ...(requests && {
      [paths.session]: ofSession('session', methods('GET', 'HEAD'), describeSession(requests)),
      [paths.sessionRefresh]: ofSession(
        'session-refresh',
        methods('POST'),
        refreshSession(requests, grants),
      ),
      [paths.logout]: ofSession('logout', methods('POST'), logout(requests, grants)),
    }),
  };
}

/** Which pages may read what: what belongs to a registration, to sessions or to an API, its front ends; the rest, all. */
function createReaders(
  { config: { frontEnds }, served, sessionRequests }: Dependencies,
  logins: LoginRoutes,
  apiPaths: ReturnType<typeof createApiPaths>,
) {
  const hasOrigin = matchesAny(frontEnds.flatMap(originsOf));
  const areAnywhere = served.some(({ frontEnds: users }) => users.areAnywhere);
  return {
    areKnown: (origin: string, { state: { action } }: Context): boolean =>
      areAnywhere || hasOrigin(origin) || ofAllPages.has(action),
    mayRead({ path, state: { action } }: Context, origin: string): boolean {
      // The answer to a preflight would let a request pass without a token.
      if (action === 'check') return false;
      const users = ofSessions.has(action)
        ? sessionRequests
        : (apiPaths?.find(path) ?? logins.find(path).served?.frontEnds);
      return (users ?? { hasOrigin }).hasOrigin(origin);
    },
    /** The client of a request is known later: then, only its own pages may read on. */
    mayAllRead(ctx: Context): boolean {
      const { action } = ctx.state;
      if (ofAllPages.has(action)) return true;
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

/** What names a registration: the words of its paths. */
const wordsOf = ({ word, others }: ServedRegistration): readonly string[] => [
  word,
  ...others.map((one) => one.word),
];

const ofSessions: ReadonlySet<Action | undefined> = new Set([
  'session',
  'session-refresh',
  'logout',
]);
/** The documents that lead clients on any page to the login. */
const ofAllPages: ReadonlySet<Action | undefined> = new Set(['metadata', 'resource-metadata']);
/** The endpoints that clients call themselves. */
const ofClients: ReadonlySet<Action | undefined> = new Set(['token', 'revoke', 'register']);

/** Finds the registration of a user lookup: a token of one provider must not reach another one. */
function registrationsOfLookups(
  served: Dependencies['served'],
  base: URL,
): (name: Query[string], headers: IncomingHttpHeaders) => RegistrationSource {
  const byName = new Map(
    served.flatMap((one) => wordsOf(one).map((word) => [word, one.registration])),
  );
  const users = served.flatMap(({ registration, frontEnds: { origins } }) =>
    [...origins].map((pattern) => ({ pattern, registration })),
  );
  const byPattern = Map.groupBy(users, ({ pattern }) => pattern);
  return (name, headers) => {
    if (name !== undefined) {
      const named = typeof name === 'string' ? byName.get(name) : undefined;
      if (named === undefined) throw new RelayError('provider_unknown');
      return named;
    }
    const origin = originOfPage(headers, base);
    const patterns = origin === undefined ? [] : patternsThatAllow(origin, byPattern);
    const ofOrigin = [...patterns].flatMap((pattern) => byPattern.get(pattern) ?? []);
    const [found, second] = new Set(ofOrigin.map(({ registration }) => registration));
    if (second !== undefined) throw new RelayError('provider_unknown', { detail: ambiguous });
    return found ?? served[0].registration;
  };
}

const ambiguous =
  'The pages of this origin may use several providers: name one by the parameter provider.';
