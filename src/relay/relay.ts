import type { RequestListener } from 'node:http';
import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { ProviderSettings } from '../config/provider-settings.ts';
import { createReadiness, type Readiness } from '../http/readiness.ts';
import { limits } from '../limits.ts';
import { createExchanges, type Exchanges } from '../login/exchanges.ts';
import { deriveStateKey, type StateKeys } from '../login/keys.ts';
import type { TokenResponse } from '../oauth/token-response.ts';
import { foreignOriginLog } from '../observability/foreign-origin-log.ts';
import { otherHostLog } from '../observability/other-host-log.ts';
import { requestLog } from '../observability/request-log.ts';
import type { RequestRecord } from '../observability/request-record.ts';
import type { Secret } from '../secret.ts';
import { createProviderClient, type ProviderClient } from '../upstream/client.ts';
import { discoverProvider } from '../upstream/discovery.ts';
import {
  discoveredProvider,
  knownProvider,
  type ProviderSource,
} from '../upstream/provider-source.ts';
import { version } from '../version.ts';
import { createApp } from './app.ts';
import { createFrontEnd, failureAnswer } from './front-ends.ts';
import { createRegistration } from './registrations.ts';

/** A relay that can answer requests but does not listen. */
export interface Relay {
  readonly listener: RequestListener;
  readonly readiness: Readiness;
  /** How many calls to the provider are in flight. */
  callsUnderWay(): number;
  /** Stops learning about the provider, and closes the connections to it. */
  close(): void;
}

/**
 * Creates a relay: its calls to the provider, its keys, its application.
 *
 * @param now milliseconds since 1970
 * @param observers called with every request once it is over, besides the log
 * @param exchanges those of this process so far, which outlast a reload
 */
export async function createRelay(
  config: Config,
  logger: Logger,
  now: () => number = Date.now,
  observers: readonly ((record: RequestRecord) => void)[] = [],
  exchanges: Exchanges<TokenResponse> = createExchanges(now),
): Promise<Relay> {
  const within = { timeout: config.providerTimeout, concurrentCalls: limits.providerCalls };
  const client = createProviderClient(`login-relay/${version}`, within, config.proxy);
  const [stateKeys, source, rateLimit] = await Promise.all([
    stateKeysOf(config),
    providerSource(config.provider, client, logger),
    rateLimitOf(config),
  ]);
  const readiness = createReadiness(source.known);
  const app = createApp({
    registration: createRegistration(config, source, client, stateKeys, exchanges, now),
    frontEnd: createFrontEnd(config),
    baseUrl: config.baseUrl,
    answerFailure: failureAnswer(config),
    observers: [requestLog(logger), ...observers],
    onForeignOrigin: foreignOriginLog(logger, config.origin),
    onOtherHost: otherHostLog(logger, config.baseUrl),
    readiness,
    rateLimit,
  });
  return {
    listener: app.callback(),
    readiness,
    callsUnderWay: client.underWay,
    close() {
      source.close();
      client.close();
    },
  };
}

// Loaded only if a rate limit is configured.
async function rateLimitOf({ rateLimit: wanted }: Config): Promise<Middleware | undefined> {
  if (wanted === undefined) return undefined;
  const { rateLimit } = await import('../http/rate-limit.ts');
  const { clientAddressBehind } = await import('../http/client-address.ts');
  return rateLimit(wanted.perMinute, clientAddressBehind(wanted.trustedProxies));
}

function stateKeysOf({ stateKeys, clientSecret }: Config): StateKeys | Promise<StateKeys> {
  if (stateKeys === undefined) return deriveStateKey(clientSecret);
  const [current, ...previous] = stateKeys;
  return [toKey(current), ...previous.map(toKey)];
}

function toKey(secret: Secret): Buffer {
  return Buffer.from(secret.reveal());
}

async function providerSource(
  settings: ProviderSettings,
  client: ProviderClient,
  logger: Logger,
): Promise<ProviderSource> {
  if ('known' in settings) return knownProvider(settings.known);
  const { discovered } = settings;
  return discoveredProvider(
    () => discoverProvider(client, discovered),
    (attempt) => {
      if (attempt.outcome === 'discovered') logger.info(attempt, 'provider discovery');
      else logger.warn(attempt, 'provider discovery');
    },
  );
}
