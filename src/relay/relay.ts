import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Config, RegistrationConfig } from '../config/config.ts';
import { loggedAddresses } from '../http/client-address.ts';
import { rateLimit as createRateLimit, rateLimitKeyBehind } from '../http/rate-limit.ts';
import { createReadiness } from '../http/readiness.ts';
import { foreignOriginLog, otherHostLog } from '../observability/occasional-warnings.ts';
import { type RequestRecord, requestLog } from '../observability/request-log.ts';
import { matchesAny } from '../origins/origin-pattern.ts';
import { createSessionAccess } from '../routes/open-session.ts';
import { createSessionGuard } from '../routes/session-guard.ts';
import { createApiPaths } from './api-paths.ts';
import { createApp } from './app.ts';
import { createMemory, type Memory } from './memory.ts';
import { type ServingContext, serveRegistration } from './registrations.ts';
import { createRelaySessions, hasSessions } from './sessions.ts';

/** What a relay has besides its configuration. */
export interface RelaySurroundings {
  readonly now?: Clock;
  /** Called with every request once it is over, besides the log. */
  readonly observers?: readonly ((record: RequestRecord) => void)[];
  /** What this process remembers of earlier requests. */
  readonly memory?: Memory;
}

/** Creates a relay that can answer requests but does not listen: its registrations, its front ends, its application. */
export async function createRelay(
  config: Config,
  logger: Logger,
  surroundings: RelaySurroundings = {},
) {
  const { now = Date.now, observers = [] } = surroundings;
  const { memory = createMemory(now) } = surroundings;
  const { registrations, frontEnds, baseUrl, readyPolicy } = config;
  const sessions = await createRelaySessions(config, memory.logouts, now);
  const context: ServingContext = { config, logger, now, memory, sessions };
  const serve = (registered: RegistrationConfig) => serveRegistration(registered, context);
  const [first, ...others] = registrations;
  const served = await Promise.all([serve(first), ...others.map(serve)]);
  const readiness = createReadiness(
    served.map(({ registration: { name }, source: { missing } }) => ({ name, missing })),
    readyPolicy,
  );
  const onlyOrigin = frontEnds.length === 1 ? frontEnds[0].origin : undefined;
  const configured = served.map(({ registration }) => registration);
  const guard = createSessionGuard(baseUrl, frontEnds.filter(hasSessions));
  const sessionAccess = sessions && createSessionAccess(sessions, guard, configured, now);
  const limited = rateLimitOf(config, memory);
  const app = createApp({
    served,
    registrationsAreNamed: config.registrationsAreNamed,
    now,
    baseUrl,
    hasOrigin: matchesAny(frontEnds.map(({ origin }) => origin)),
    names: { registration: served.length > 1, frontEnd: frontEnds.length > 1 },
    observers: [requestLog(logger), ...observers],
    clientAddress: loggedAddresses(config).of,
    onForeignOrigin: foreignOriginLog(logger, onlyOrigin),
    onOtherHost: otherHostLog(logger, baseUrl),
    readiness,
    limited,
    grantMemory: memory.grants,
    sessionAccess,
    apiPaths: createApiPaths(config, sessionAccess, limited),
  });
  return {
    listener: app.callback(),
    readiness,
    /** The number of calls to providers in flight. */
    callsInFlight: (): number =>
      served.reduce((sum, { callsInFlight }) => sum + callsInFlight(), 0),
    /** Stops discovery and closes the connections to the providers. */
    close(): void {
      for (const { close } of served) close();
    },
  };
}

/** The rate limit of the routes that have one. Empty: clients may send any number of requests. */
function rateLimitOf(
  { rateLimit: perMinute, trustedProxies }: Config,
  { home }: Memory,
): readonly Middleware[] {
  if (perMinute === undefined) return [];
  return [createRateLimit(perMinute, rateLimitKeyBehind(trustedProxies), home)];
}
