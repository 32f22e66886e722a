import { readConfig } from '../config.ts';
import { createLogger } from '../log.ts';
import type { OptionSources } from '../option-values.ts';
import { startRelay } from '../relay.ts';
import { readTextFile } from '../text-file.ts';

/**
 * `login-relay serve`: runs the relay until it is told to stop.
 *
 * @param stopped resolves with the reason to stop
 * @throws {ConfigError} @throws {ListenError}
 */
export async function serve(sources: OptionSources, stopped: () => Promise<string>): Promise<void> {
  const { config, warnings } = readConfig({ ...sources, readFile: readTextFile });
  const logger = await createLogger({
    level: config.logLevel,
    format: config.logFormat ?? (process.stdout.isTTY ? 'pretty' : 'json'),
  });
  for (const warning of warnings) logger.warn(warning);
  const relay = await startRelay(config, logger);
  logger.info({ address: relay.address, callbackUrl: config.redirectUri }, 'listening');
  logger.info({ signal: await stopped() }, 'stopping');
  await relay.close();
}
