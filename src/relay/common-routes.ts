import type { Config } from '../config/config.ts';
import { RelayError } from '../failures/relay-error.ts';
import { type Action, type Context, type Handler, inOrder, type Route } from '../http/context.ts';
import { answerSessionFailures } from '../http/error-responder.ts';
import { methods } from '../http/request-guards.ts';
import { matchesAny, patternsThatAllow } from '../origins/origin-pattern.ts';
import { originsOf } from '../origins/redirect-uri.ts';
import { paths } from '../paths.ts';
import { clientFiles } from '../routes/client.ts';
import { currentUser, type FindRegistration } from '../routes/current-user.ts';
import { alive, type Readiness, ready } from '../routes/health.ts';
import { home } from '../routes/home.ts';
import { describeSession, logout, refreshSession } from '../routes/session.ts';
import { createSessionLookup } from '../routes/session-lookup.ts';
import { originOfPage, refuseSessions, type SessionRequests } from '../routes/session-requests.ts';
import { type ServedRegistration, type ServingContext, wordsOf } from './registrations.ts';

/** What the routes that belong to no registration need. */
export interface CommonDependencies extends ServingContext {
  readonly served: readonly [ServedRegistration, ...ServedRegistration[]];
  readonly readiness: Readiness;
  /** Undefined if no front end has sessions. */
  readonly sessionRequests: SessionRequests | undefined;
}

/** The routes that belong to no registration, by path. */
export function commonRoutes(
  dependencies: CommonDependencies,
  rateLimits: readonly Handler[],
): Readonly<Record<string, Route>> {
  const { config, pages, memory, served, readiness, sessionRequests: requests } = dependencies;
  const { grants, home: memoryHome } = memory;
  const lookup = requests && createSessionLookup(requests, grants.refreshes, memoryHome.now);
  const reading = (action: Action, ...handlers: Handler[]): Route => ({
    action,
    handle: inOrder(methods('GET', 'HEAD'), ...handlers),
  });
  const ofSession = (action: Action, method: Handler, endpoint: Handler): Route => ({
    action,
    handle: inOrder(answerSessionFailures, method, ...rateLimits, endpoint),
  });
  const [onlyPage, second] = config.frontEnds.flatMap(({ frontendUrl }) => frontendUrl ?? []);
  const isForeign = foreignPages(config);
  const findRegistration = config.registrationsAreNamed
    ? registrationsOfLookups(served, new URL(config.baseUrl))
    : () => served[0].registration;
  return {
    [paths.user]: reading('user', ...rateLimits, currentUser(findRegistration, lookup, isForeign)),
    // People who know only the host look here.
    '/': reading('home', home(pages, readiness, second ? undefined : onlyPage)),
    [paths.alive]: reading('probe', alive),
    [paths.ready]: reading('probe', ready(readiness)),
    ...Object.fromEntries(Object.entries(clientFiles).map(([path, file]) => [path, reading('client', file)])),
    // A page that asks for sessions in vain learns why.
    ...(requests === undefined &&
      Object.fromEntries(
        [paths.session, paths.sessionRefresh, paths.logout].map((path) => [
          path,
          ofSession('session', methods('GET', 'HEAD', 'POST'), refuseSessions),
        ]),
      )),
    ...(requests && {
      [paths.session]: ofSession('session', methods('GET', 'HEAD'), describeSession(requests)),
      [paths.sessionRefresh]: ofSession('session-refresh', methods('POST'), refreshSession(requests, grants)),
      [paths.logout]: ofSession('logout', methods('POST'), logout(requests, grants)),
    }),
  };
}

/** Tells whether an origin is one of any front end. */
export const originsOfFrontEnds = (frontEnds: Config['frontEnds']) => matchesAny(frontEnds.flatMap(originsOf));

/** Tells whether a request is of a page that is neither a front end's nor the relay's own. Programs have no page. */
function foreignPages({ baseUrl, frontEnds }: Config): (ctx: Context) => boolean {
  const isOfFrontEnd = originsOfFrontEnds(frontEnds);
  const { origin: own } = new URL(baseUrl);
  return ({ req: { headers } }) => {
    const { origin, 'sec-fetch-site': site } = headers;
    return origin === undefined ? site === 'cross-site' : origin !== own && !isOfFrontEnd(origin);
  };
}

/**
 * Finds the registration of a user lookup: the one that `provider` names, or the only one of the page's origin, or the
 * first one. It does not guess among several: a token of one provider must not reach another one.
 */
function registrationsOfLookups(served: CommonDependencies['served'], base: URL): FindRegistration {
  const byName = new Map(served.flatMap((one) => wordsOf(one).map((word) => [word, one.registration])));
  const uses = served.flatMap(({ registration, frontEnds: { origins } }) =>
    [...origins].map((pattern) => ({ pattern, registration })),
  );
  const usesByPattern = Map.groupBy(uses, ({ pattern }) => pattern);
  return (name, headers) => {
    if (name !== undefined) {
      const named = typeof name === 'string' ? byName.get(name) : undefined;
      if (named === undefined) throw new RelayError('provider_unknown');
      return named;
    }
    const origin = originOfPage(headers, base);
    const patterns = origin === undefined ? [] : patternsThatAllow(origin, usesByPattern);
    const ofOrigin = [...patterns].flatMap((pattern) => usesByPattern.get(pattern) ?? []);
    const [found, second] = new Set(ofOrigin.map(({ registration }) => registration));
    if (second !== undefined) throw new RelayError('provider_unknown', { detail: ambiguous });
    return found ?? served[0].registration;
  };
}

const ambiguous = 'The pages of this origin may use several providers: name one by the parameter provider.';
