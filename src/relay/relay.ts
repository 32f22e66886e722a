import type { RequestListener } from 'node:http';
import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { clientAddressBehind } from '../http/client-address.ts';
import { loggedAddresses } from '../http/logged-address.ts';
import { rateLimit } from '../http/rate-limit.ts';
import { createReadiness, type Readiness } from '../http/readiness.ts';
import { type Keys, keysFromClientSecret, keysFromFile } from '../keys.ts';
import { limits } from '../limits.ts';
import { encodingChanges } from '../oauth/client-authentication.ts';
import { foreignOriginLog } from '../observability/foreign-origin-log.ts';
import { otherHostLog } from '../observability/other-host-log.ts';
import { requestLog } from '../observability/request-log.ts';
import type { RequestRecord } from '../observability/request-record.ts';
import { createUpstreamClient, type UpstreamClient } from '../upstream/client.ts';
import { discoverProvider } from '../upstream/discovery.ts';
import {
  discoveredProvider,
  knownProvider,
  type ProviderSource,
} from '../upstream/provider-source.ts';
import { version } from '../version.ts';
import { createApp } from './app.ts';
import { createFrontEnd, failureAnswer, failurePageOf } from './front-ends.ts';
import { createGrants } from './grants.ts';
import { createMemory, type Memory } from './memory.ts';
import { createRegistration } from './registrations.ts';

/** A relay that can answer requests but does not listen. */
export interface Relay {
  readonly listener: RequestListener;
  readonly readiness: Readiness;
  /** The number of calls to the provider in flight. */
  callsInFlight(): number;
  /** Stops discovery and closes the connections to the provider. */
  close(): void;
}

/**
 * Creates a relay: its calls to the provider, its keys, its application.
 *
 * @param now milliseconds since 1970
 * @param observers called with every request once it is over, besides the log
 * @param memory what this process remembers of earlier requests
 */
export async function createRelay(
  config: Config,
  logger: Logger,
  now: () => number = Date.now,
  observers: readonly ((record: RequestRecord) => void)[] = [],
  memory: Memory = createMemory(now),
): Promise<Relay> {
  const within = { timeout: config.providerTimeout, concurrentCalls: limits.providerCalls };
  const client = createUpstreamClient(`login-relay/${version}`, within, config.proxy);
  const [keys, source] = await Promise.all([
    keysOf(config),
    providerSource(config, client, logger, memory),
  ]);
  const readiness = createReadiness(source.missing);
  const grants = createGrants(config, keys, memory.grants, now);
  const app = createApp({
    registration: createRegistration(config, source, client, keys, memory.logins, now),
    frontEnd: createFrontEnd(config, grants.codes),
    grants,
    now,
    answerInPlace: failurePageOf(config),
    baseUrl: config.baseUrl,
    answerFailure: failureAnswer(config),
    observers: [requestLog(logger), ...observers],
    clientAddress: loggedAddresses(config).of,
    onForeignOrigin: foreignOriginLog(logger, config.origin),
    onOtherHost: otherHostLog(logger, config.baseUrl),
    readiness,
    rateLimit: rateLimitOf(config),
  });
  return {
    listener: app.callback(),
    readiness,
    callsInFlight: client.inFlight,
    close() {
      source.close();
      client.close();
    },
  };
}

function rateLimitOf({ rateLimit: perMinute, trustedProxies }: Config): Middleware | undefined {
  if (perMinute === undefined) return undefined;
  return rateLimit(perMinute, clientAddressBehind(trustedProxies));
}

function keysOf({ keySecrets, clientSecret }: Config): Keys | Promise<Keys> {
  return keySecrets === undefined ? keysFromClientSecret(clientSecret) : keysFromFile(keySecrets);
}

async function providerSource(
  { provider: settings, clientId, clientSecret }: Config,
  client: UpstreamClient,
  logger: Logger,
  { providers }: Memory,
): Promise<ProviderSource> {
  if ('known' in settings) return knownProvider(settings.known);
  const context = {
    ...settings.discovered,
    encodingChanges: encodingChanges({ clientId, clientSecret }),
  };
  // A reload must not forget a provider whose metadata cannot be fetched at the moment.
  const key = JSON.stringify(settings.discovered);
  return discoveredProvider(
    async () => {
      const provider = await discoverProvider(client, context);
      providers.set(key, provider);
      return provider;
    },
    (attempt) => {
      if (attempt.outcome === 'discovered') logger.info(attempt, 'provider discovery');
      else logger.warn(attempt, 'provider discovery');
    },
    providers.get(key),
  );
}
