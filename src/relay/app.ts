import type { IncomingHttpHeaders } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import { RelayError } from '../errors.ts';
import { ignoreBody } from '../http/body.ts';
import { loggedAddresses } from '../http/client-address.ts';
import { type Context, claimedQuery, inOrder, type RequestState } from '../http/context.ts';
import { cors } from '../http/cors.ts';
import { answerSessionFailures, errorResponder } from '../http/error-responder.ts';
import { rateLimit } from '../http/rate-limit.ts';
import { allow, checkHeaders, originForm } from '../http/request-guards.ts';
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
import { paths, sessionPaths } from '../paths.ts';
import { clientFiles } from '../routes/client.ts';
import { currentUser } from '../routes/current-user.ts';
import { alive, type Readiness, ready } from '../routes/health.ts';
import { describeSession, logout, refreshSession } from '../routes/session.ts';
import { originOfPage, type SessionAccess } from '../routes/session-access.ts';
import { createApiPaths } from './api-paths.ts';
import { addLoginRoutes } from './login-routes.ts';
import type { ServedRegistration, ServingContext } from './registrations.ts';

/** What the application needs. Its owner creates and closes it. */
interface Dependencies extends ServingContext {
  readonly served: readonly [ServedRegistration, ...ServedRegistration[]];
  /** Called with every request once it is over. */
  readonly observers: readonly ((record: RequestRecord) => void)[];
  readonly readiness: Readiness;
  /** Undefined if no front end has sessions. */
  readonly sessionAccess: SessionAccess | undefined;
}

/** Creates the relay as a Koa application: its middleware and routes, in order. */
export function createApp(dependencies: Dependencies): Koa<RequestState> {
  const { config, logger, memory, served, observers, readiness, sessionAccess } = dependencies;
  const { frontEnds, baseUrl, registrationsAreNamed, rateLimit: perMinute } = config;
  const limited =
    perMinute === undefined ? [] : [rateLimit(perMinute, config.trustedProxies, memory.home)];
  const apiPaths = createApiPaths(config, sessionAccess, limited);
  const hasOrigin = matchesAny(frontEnds.flatMap(originsOf));
  const onlyOrigin = frontEnds.length === 1 ? frontEnds[0].origin : undefined;
  const byName = new Map(frontEnds.map((frontEnd) => [frontEnd.name, frontEnd]));
  const { origin: ownOrigin } = new URL(baseUrl);
  const isKnownPage = (origin: string) => origin === ownOrigin || hasOrigin(origin);
  const names = { registration: served.length > 1, frontEnd: frontEnds.length > 1 };
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  const findRegistration = registrationsAreNamed
    ? registrationsOfLookups(served, new URL(baseUrl))
    : () => served[0].registration;
  router.all(
    paths.user,
    allow('GET', 'HEAD'),
    ...limited,
    currentUser(findRegistration, sessionAccess),
  );
  for (const [path, file] of Object.entries(clientFiles)) {
    router.all(path, allow('GET', 'HEAD'), file);
  }
  if (sessionAccess !== undefined) {
    const { grants } = memory;
    const before = (...methods: string[]) => [answerSessionFailures, allow(...methods), ...limited];
    router.all(paths.session, ...before('GET', 'HEAD'), describeSession(sessionAccess));
    router.all(paths.sessionRefresh, ...before('POST'), refreshSession(sessionAccess, grants));
    router.all(paths.logout, ...before('POST'), logout(sessionAccess, grants));
  }
  router.all(paths.alive, allow('GET', 'HEAD'), alive);
  router.all(paths.ready, allow('GET', 'HEAD'), ready(readiness));
  const registrationOf = addLoginRoutes(router, served, {
    baseUrl,
    limited,
    watchStarts: inOrder(
      warnOfOtherHosts(logger, baseUrl),
      warnOfForeignPages(logger, isKnownPage, (name) => byName.get(name)?.origin || undefined),
    ),
  });
  // What belongs to a registration, to sessions or to an API can be read by their front ends, the rest by all.
  const mayRead = (origin: string, path: string) => {
    const user = sessionPaths.has(path) ? sessionAccess : apiPaths?.find(path);
    return (user ?? registrationOf(path)?.frontEnds ?? { hasOrigin }).hasOrigin(origin);
  };

  // The client of a request is known later: then, only its own pages may read on.
  const areAnywhere = served.some(({ frontEnds: users }) => users.areAnywhere);
  const mayAllRead = (ctx: Context) => {
    if (ctx.path !== paths.user) {
      return ofClients.test(ctx.path) && registrationOf(ctx.path)?.frontEnds.areAnywhere === true;
    }
    const { provider } = claimedQuery(ctx);
    const isMeant = ({ registration: { name } }: ServedRegistration) =>
      provider === undefined || provider === name;
    return served.some((one) => one.frontEnds.areAnywhere && isMeant(one));
  };

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
  app.use(warnOfForeignOrigins(logger, (one) => areAnywhere || hasOrigin(one), onlyOrigin));
  app.use(cors(mayRead, mayAllRead));
  if (apiPaths !== undefined) app.use(apiPaths.route);
  app.use(router.routes());
  app.use((ctx) => {
    // A login may have started here before a reload removed its registration.
    if (registrationsAreNamed && /^\/auth\/[^/]+\/callback$/.test(ctx.path)) {
      ctx.state.answerFailure = served[0].frontEnds.first.answerInPlace;
      throw new RelayError('front_end_gone');
    }
    throw new RelayError('not_found');
  });
  return app;
}

/** The endpoints that clients call themselves. */
const ofClients = /^\/\.well-known\/|^\/auth\/[^/]+\/(token|revoke|register)$/;

/** Finds the registration of a user lookup: a token of one provider must not reach another one. */
function registrationsOfLookups(
  served: Dependencies['served'],
  base: URL,
): (name: Query[string], headers: IncomingHttpHeaders) => RegistrationSource {
  const byName = new Map(served.map(({ registration }) => [registration.name, registration]));
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
