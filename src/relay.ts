import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import type { Config } from './config.ts';
import { createProviderClient } from './oauth/provider-client.ts';
import { deriveStateKey, type StateKeys } from './oauth/state-keys.ts';
import type { Secret } from './secret.ts';
import { type ListeningServer, listen } from './server.ts';
import { version } from './version.ts';

const concurrentCalls = 256;

/** A relay that answers requests, whoever listens for them. */
export interface Relay {
  readonly listener: RequestListener;
  /** Closes the connections to the provider. */
  close(): void;
}

/** Makes a relay: its calls to the provider, its keys, its application. */
export async function createRelay(config: Config, logger: Logger): Promise<Relay> {
  const stateKeys = await stateKeysOf(config);
  const client = createProviderClient(`login-relay/${version}`, {
    timeout: config.providerTimeout,
    concurrentCalls,
  });
  const app = createApp(config, { logger, client, stateKeys, now: Date.now });
  return { listener: app.callback(), close: client.close };
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
