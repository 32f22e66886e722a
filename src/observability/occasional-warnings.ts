import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import { RelayError } from '../failures/relay-error.ts';
import type { RequestState } from '../http/context.ts';
import type { CountedLimit } from '../limits.ts';
import { ownPrefix } from '../paths.ts';
import type { LargestHolder } from '../resources/streams.ts';
import { protocolFailures, type UnreadableRequest } from '../server/unreadable-request.ts';

type Warner = Pick<Logger, 'warn'>;

const quietTime = 60_000;
const mostSubjects = 20;
/** An `Origin` in the form that browsers send. Anything else is not logged. @see RFC 6454 §6.2 */
const loggedOrigin = /^(null|[a-z][a-z0-9+.-]{0,30}:\/\/[A-Za-z0-9._:[\]-]{1,255})$/;

/**
 * Creates a warning that is logged at most once a minute for each subject, and for at most 20 subjects a minute. So
 * callers can flood neither the log nor the memory.
 *
 * @returns logs the warning. The subject is only compared with earlier ones, and not logged
 */
export function createOccasionalWarning(
  logger: Warner,
  message: string,
  now: () => number = () => performance.now(),
): (subject: string, details: object | (() => object)) => void {
  const recent = new Map<string, number>();
  return (subject, details) => {
    const time = now();
    for (const [earlier, loggedAt] of recent) if (time - loggedAt >= quietTime) recent.delete(earlier);
    if (recent.has(subject) || recent.size >= mostSubjects) return;
    recent.set(subject, time);
    logger.warn(typeof details === 'function' ? details() : details, message);
  };
}

/**
 * Creates an observer of unreadable requests, which warns about connections with another protocol than the port's,
 * because a proxy in front is misconfigured.
 *
 * @param shownAddress returns the address of the peer as the log shows it
 */
export function warnOfOtherProtocols(logger: Warner, shownAddress: (peer: string | undefined) => string | undefined) {
  const warn = createOccasionalWarning(logger, 'a connection speaks another protocol than this port');
  return ({ outcome }: UnreadableRequest, peer: string | undefined): void => {
    if (!protocolFailures.has(outcome)) return;
    warn(outcome, () => ({ outcome, peer: shownAddress(peer), detail: new RelayError(outcome).detail }));
  };
}

/**
 * Warns about requests from origins that belong to no front end.
 *
 * @param isKnown whether pages of an origin may send requests
 * @param configuredOrigin the front end's origin; undefined if there are several front ends
 */
export function warnOfForeignOrigins(
  logger: Warner,
  isKnown: (origin: string) => boolean,
  configuredOrigin: string | undefined,
): Middleware {
  const warn = createOccasionalWarning(logger, 'request from another origin');
  return (ctx, next) => {
    const { origin: received } = ctx.req.headers;
    if (received !== undefined && !isKnown(received)) {
      const origin = loggedOrigin.test(received) ? received : '(not an origin)';
      warn(origin, { origin, configuredOrigin });
    }
    return next();
  };
}

/**
 * Warns about logins that pages of other origins start, as their `Referer` says. The login will not return to such a
 * page, which is often the right page at another port.
 */
export function warnOfForeignPages(
  logger: Warner,
  isFrontEnd: (origin: string) => boolean,
  configuredOriginOf: (frontEnd: string) => string | undefined,
): Middleware<RequestState> {
  const warn = createOccasionalWarning(logger, 'login started by a page of another origin');
  return async (ctx, next) => {
    try {
      await next();
    } finally {
      const { origin = 'null' } = URL.parse(ctx.get('Referer')) ?? {};
      const isForeign = origin !== 'null' && loggedOrigin.test(origin) && !isFrontEnd(origin);
      // The front end is known only after the start. If a start names none, there is nothing to compare.
      const configuredOrigin = configuredOriginOf(ctx.state.frontEnd ?? '');
      if (isForeign && configuredOrigin !== undefined) warn(origin, { origin, configuredOrigin });
    }
  };
}

/** A host as browsers send it: a name or an IP address, with an optional port. */
const loggedHost = /^([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?$/;

/**
 * Warns about logins that start under another host name than the base URL's, such as 127.0.0.1 for localhost. The
 * browser keeps the login's cookie for that name, so that the callback, which comes to the base URL, lacks it. Another
 * port is no problem, because ports share cookies.
 *
 * @see RFC 6265 §8.5
 */
export function warnOfOtherHosts(logger: Warner, baseUrl: string): Middleware {
  const base = new URL(baseUrl);
  const warn = createOccasionalWarning(
    logger,
    'login started under another host name: its callback fails, unless a proxy changes the Host header',
  );
  return (ctx, next) => {
    const { host } = ctx.req.headers;
    if (host !== undefined && host !== base.host) {
      const requested = URL.parse(`${base.protocol}//${host}`);
      const isOther = requested !== null && requested.hostname !== base.hostname;
      if (isOther && loggedHost.test(requested.host)) warn(requested.host, { host: requested.host, baseUrl });
    }
    return next();
  };
}

/**
 * Creates a function that warns about a proxy whose logins cannot end, because it keeps the relay's own paths at a
 * resource from the relay. Call it with the name of the resource at each such request.
 */
export function warnOfCheckedPaths(logger: Warner): (resource: string) => void {
  const warn = createOccasionalWarning(
    logger,
    `the proxy asks the check about ${ownPrefix}, so no login can end: send it to the relay`,
  );
  return (resource) => warn(resource, { resource });
}

/**
 * Creates a function that warns that the gateway is full. Call it at each request that gets no place.
 *
 * @param namesPeople whether the log may contain the id of the person with most requests
 */
export function warnOfFullGateway(
  logger: Warner,
  largestHolder: () => LargestHolder,
  namesPeople: boolean,
): () => void {
  const warn = createOccasionalWarning(
    logger,
    'no place at the gateway: one person may have too many requests in flight',
  );
  const describeHolders = () => {
    const { people, most, person } = largestHolder();
    return { people, most, person: namesPeople ? person : undefined };
  };
  return () => warn('gateway', describeHolders);
}

/**
 * Creates a function that logs a hit of a limit: at once, and then at most once a minute, with the number of hits
 * since. So a flood of requests does not flood the log.
 */
export function createLimitLog(logger: Logger): (limit: CountedLimit) => void {
  /** Hits since the last line of each limit, for a minute after that line. */
  const unlogged = new Map<CountedLimit, number>();

  /** Logs hits of a limit, and a minute later the hits since. */
  function log(limit: CountedLimit, hits: number): void {
    logger.warn({ limit, hits }, 'limit hit');
    unlogged.set(limit, 0);
    setTimeout(() => {
      const hitsSince = unlogged.get(limit) ?? 0;
      unlogged.delete(limit);
      if (hitsSince > 0) log(limit, hitsSince);
    }, quietTime).unref();
  }

  return (limit) => {
    const hits = unlogged.get(limit);
    if (hits === undefined) log(limit, 1);
    else unlogged.set(limit, hits + 1);
  };
}
