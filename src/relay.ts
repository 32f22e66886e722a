import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import type { Config } from './config.ts';
import { discoverProvider } from './oauth/discovery.ts';
import { createProviderClient, type ProviderClient } from './oauth/provider-client.ts';
import { discoveredProvider, knownProvider, type ProviderSource } from './oauth/provider-source.ts';
import { deriveStateKey, type StateKeys } from './oauth/state-keys.ts';
import type { ProviderSettings } from './provider-settings.ts';
import type { Secret } from './secret.ts';
import { type ListeningServer, listen } from './server.ts';
import { version } from './version.ts';

const concurrentCalls = 256;

/** A relay that answers requests, whoever listens for them. */
export interface Relay {
  readonly listener: RequestListener;
  /** Stops learning about the provider, and closes the connections to it. */
  close(): void;
}

/**
 * Makes a relay: its calls to the provider, its keys, its application.
 *
 * @param now milliseconds since 1970
 */
export async function createRelay(
  config: Config,
  logger: Logger,
  now: () => number = Date.now,
): Promise<Relay> {
  const limits = { timeout: config.providerTimeout, concurrentCalls };
  const client = createProviderClient(`login-relay/${version}`, limits, config.proxy);
  const [stateKeys, source] = await Promise.all([
    stateKeysOf(config),
    providerSource(config.provider, client, logger),
  ]);
  const app = createApp(config, { logger, source, client, stateKeys, now });
  return {
    listener: app.callback(),
    close() {
      source.close();
      client.close();
    },
  };
}

/**
 * Makes a relay and opens its port.
 *
 * @throws {ListenError} where the port cannot be opened
 */
export async function startRelay(config: Config, logger: Logger): Promise<ListeningServer> {
  const relay = await createRelay(config, logger);
  const server = await listen(relay.listener, config, (unreadable) => {
    logger.info({ ...unreadable, method: null, route: null }, 'request');
  });
  return {
    address: server.address,
    async close() {
      await server.close();
      relay.close();
    },
  };
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
