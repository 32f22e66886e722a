import type { LookupFunction } from 'node:net';
import type { Logger } from 'pino';
import { createDocuments } from '../clients/fetch-documents.ts';
import type { Clock } from '../clock.ts';
import type { Config, RegistrationConfig } from '../config/config.ts';
import { hasSessions } from '../config/relations.ts';
import { createPages } from '../delivery/pages.ts';
import { audienceOfFrontEnd } from '../front-ends/front-end.ts';
import type { Marks } from '../memory/marks.ts';
import { createRequestLog, type RequestRecord } from '../observability/request-log.ts';
import { createReadiness } from '../routes/health.ts';
import { createSessionRequests } from '../routes/session-requests.ts';
import { deriveKeys } from '../sealing/keys.ts';
import { createSessions } from '../session/sessions.ts';
import { isHttps, isLoopback } from '../urls.ts';
import { createApp } from './app.ts';
import { createMemory, type Memory } from './memory.ts';
import { type ServingContext, serveRegistration } from './registrations.ts';

/** The things that a relay uses besides its configuration. */
export interface RelaySurroundings {
  readonly now?: Clock;
  /** Called with every request once it is over, in addition to the log. */
  readonly observers?: readonly ((record: RequestRecord) => void)[];
  readonly memory?: Memory;
  /** Resolves the hosts of clients' documents. Tests replace it. */
  readonly resolve?: LookupFunction;
  /** Whether documents of clients may be on this machine. By default, if the relay's own address is. */
  readonly documentsHere?: boolean;
}

/** Creates a relay that can answer requests but does not listen yet. */
export async function createRelay(config: Config, logger: Logger, surroundings: RelaySurroundings = {}) {
  const { registrations, frontEnds, baseUrl, readyPolicy } = config;
  const { now = Date.now, memory = createMemory(now), observers = [], resolve } = surroundings;
  const { documentsHere = isLoopback(new URL(baseUrl)) } = surroundings;
  const sessions = await createSessionsIfAny(config, memory.logouts, now);
  const documents = createDocuments(documentsHere, now, resolve);
  const pages = createPages(config.pages);
  const context: ServingContext = { config, logger, now, memory, sessions, documents, pages };
  const serve = (registered: RegistrationConfig) => serveRegistration(registered, context);
  const [first, ...others] = registrations;
  const served = await Promise.all([serve(first), ...others.map(serve)]);
  const readiness = createReadiness(
    served.map(({ registration: { name }, source: { whyMissing } }) => ({ name, whyMissing })),
    readyPolicy,
    memory.home.shared?.isAway,
  );
  const sessionRequests =
    sessions &&
    createSessionRequests(
      sessions,
      baseUrl,
      frontEnds.filter(hasSessions),
      served.map(({ registration }) => registration),
      now,
    );
  const app = createApp({
    ...context,
    logger,
    served,
    observers: [createRequestLog(logger), ...observers],
    readiness,
    sessionRequests,
  });
  return {
    listener: app.callback(),
    readiness,
    /** Takes over the streams of the relay before a reload, and ends the streams of changed resources. */
    takeOverStreams(): void {
      const ofBrowsers = served.flatMap(({ browserDoors }) => browserDoors.map(({ byCookie }) => byCookie));
      memory.streams.applyReload([...served.flatMap(({ doors }) => doors), ...ofBrowsers]);
    },
    callsInFlight: (): number => served.reduce((sum, { callsInFlight }) => sum + callsInFlight(), 0),
    close(): void {
      for (const { close } of served) close();
      documents.close();
    },
  };
}

/** Creates the sessions of front ends. @returns undefined if no front end has sessions */
async function createSessionsIfAny(config: Config, logouts: Marks, now: Clock) {
  const frontEnds = config.frontEnds.filter(hasSessions);
  if (frontEnds.length === 0) return undefined;
  const settings = {
    secure: isHttps(config.baseUrl),
    lifetime: config.sessionLifetime,
    idle: config.sessionIdle,
    isStrict: config.sessionCheck === 'strict',
    frontEnds: new Map(
      frontEnds.map((frontEnd) => [
        frontEnd.name,
        { audience: audienceOfFrontEnd(frontEnd), registrations: new Set(frontEnd.registrations) },
      ]),
    ),
  };
  // Only a relay for this machine may lack a key file. Its keys come from the client secret.
  const keys = await deriveKeys(config.keySecrets, config.registrations[0].clientSecret);
  return createSessions(settings, keys.session, logouts, now);
}
