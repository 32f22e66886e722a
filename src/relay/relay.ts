import type { Logger } from 'pino';
import { createDocuments } from '../clients/documents.ts';
import type { Clock } from '../clock.ts';
import type { Config, RegistrationConfig } from '../config/config.ts';
import { createReadiness } from '../http/readiness.ts';
import { type RequestRecord, requestLog } from '../observability/request-log.ts';
import { createSessionAccess } from '../routes/session-access.ts';
import type { Resolve } from '../upstream/public-addresses.ts';
import { isLoopback } from '../urls.ts';
import { createApp } from './app.ts';
import { createMemory, type Memory } from './memory.ts';
import { refreshPolicyOf } from './registration-config.ts';
import { type ServingContext, serveRegistration } from './registrations.ts';
import { createRelaySessions, hasSessions } from './sessions.ts';

/** What a relay has besides its configuration. */
export interface RelaySurroundings {
  readonly now?: Clock;
  /** Called with every request once it is over, besides the log. */
  readonly observers?: readonly ((record: RequestRecord) => void)[];
  /** What this process remembers of earlier requests. */
  readonly memory?: Memory;
  /** How names of hosts are resolved that have documents of clients. Tests change it. */
  readonly resolve?: Resolve;
  /** Whether documents of clients may be on this machine. By default, if the relay itself is. */
  readonly documentsHere?: boolean;
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
  const { resolve, documentsHere = isLoopback(new URL(baseUrl)) } = surroundings;
  const documents = createDocuments(documentsHere, now, resolve);
  const context: ServingContext = {
    ...{ config, logger, now, memory, sessions, documents },
    frontEnds: frontEnds.map((one) => ({ ...one, refreshPolicy: refreshPolicyOf(config, one) })),
  };
  const serve = (registered: RegistrationConfig) => serveRegistration(registered, context);
  const [first, ...others] = registrations;
  const served = await Promise.all([serve(first), ...others.map(serve)]);
  const readiness = createReadiness(
    served.map(({ registration: { name }, source: { missing } }) => ({ name, missing })),
    readyPolicy,
    memory.home.shared?.isAway,
  );
  const sessionAccess =
    sessions &&
    createSessionAccess(
      sessions,
      baseUrl,
      frontEnds.filter(hasSessions),
      served.map(({ registration }) => registration),
      now,
    );
  const app = createApp({
    ...context,
    served,
    observers: [requestLog(logger), ...observers],
    readiness,
    sessionAccess,
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
      documents.close();
    },
  };
}
