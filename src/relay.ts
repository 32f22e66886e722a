import type { Logger } from 'pino';
import { createApp } from './app.ts';
import type { Config } from './config.ts';
import { createProviderClient } from './oauth/provider-client.ts';
import { type ListeningServer, listen } from './server.ts';
import { version } from './version.ts';

const concurrentCalls = 256;

/**
 * Starts a relay: calls to the provider, the application, and the port.
 *
 * @throws {ListenError} where the port cannot be opened
 */
export async function startRelay(config: Config, logger: Logger): Promise<ListeningServer> {
  const client = createProviderClient(`login-relay/${version}`, {
    timeout: config.providerTimeout,
    concurrentCalls,
  });
  const app = createApp(config, { logger, client });
  const server = await listen(app.callback(), config, (unreadable) => {
    logger.info({ ...unreadable, method: null, route: null }, 'request');
  });
  return {
    address: server.address,
    async close() {
      await server.close();
      client.close();
    },
  };
}
