import type { Logger } from 'pino';
import { type ConfigReading, readConfig } from '../../config/config.ts';
import type { OptionSources } from '../../config/option-values.ts';
import { readTextFile } from '../../config/text-file.ts';
import { deriveStateKey } from '../../login/keys.ts';
import type { RunningRelay } from '../../relay/relay.ts';
import { ConfigError } from '../../start-errors.ts';
import type { SystemdEnvironment } from '../../systemd/environment.ts';
import type { ServiceManager } from '../../systemd/service-manager.ts';
import type { Signals } from '../signals.ts';
import { endOnUncaughtErrors } from '../uncaught-errors.ts';
import { watchFiles } from '../watch-files.ts';

/**
 * `login-relay serve`: runs the relay until it is told to stop.
 *
 * @param systemd a passed socket is listened on in place of the configured port
 * @throws {ConfigError} @throws {ListenError}
 */
export async function serve(
  sources: OptionSources,
  signals: Signals,
  systemd: SystemdEnvironment,
): Promise<void> {
  const read = () => readConfig({ ...sources, readFile: readTextFile });
  const { config, warnings } = read();
  // Takes longer than all else: started first, it is done on another thread while the rest loads.
  if (config.stateKeys === undefined) deriveStateKey(config.clientSecret);
  const { createLogger, flushLog } = await import('../../observability/log.ts');
  const logger = await createLogger({ level: config.logLevel, format: config.logFormat });
  endOnUncaughtErrors(logger);
  for (const warning of warnings) logger.warn(warning);
  const manager = await serviceManager(systemd, sources.environment, logger);
  const { startRelay } = await import('../../relay/relay.ts');
  const starting = startRelay(config, logger, systemd.socket);
  const readAgain = oneAtATime(async () => {
    // A start that fails is told by who awaits it.
    const relay = await starting.catch(() => undefined);
    if (relay !== undefined) await reload(relay, read, logger, manager);
  });
  // While it starts: a signal that nothing handles would end the process.
  signals.onReload(readAgain);
  const stopped = signals.stop();
  if (config.certificate) watchFiles(config.certificate.files, readAgain);
  const relay = await starting;
  const { address, metricsAddress } = relay;
  const socketActivated = systemd.socket && true;
  const { redirectUri: callbackUrl } = config;
  logger.info({ address, socketActivated, metricsAddress, callbackUrl }, 'listening');
  manager?.ready();
  logger.info({ signal: await stopped }, 'stopping');
  await Promise.all([manager?.stopping(), relay.stop()]);
  await flushLog(logger);
}

// Whatever happens while it runs is seen by one more run after it.
function oneAtATime(act: () => Promise<void>): () => Promise<void> {
  let wanted = false;
  let running = false;
  return async () => {
    wanted = true;
    if (running) return;
    running = true;
    while (wanted) {
      wanted = false;
      await act();
    }
    running = false;
  };
}

// Only who is awaited by a service manager pays for speaking to it.
async function serviceManager(
  { notifications }: SystemdEnvironment,
  { PATH }: OptionSources['environment'],
  logger: Logger,
): Promise<ServiceManager | undefined> {
  if (notifications === undefined) return undefined;
  const { connectServiceManager } = await import('../../systemd/service-manager.ts');
  return connectServiceManager(notifications, PATH, (error) =>
    logger.warn({ error }, 'systemd-notify has failed: systemd does not hear of this process'),
  );
}

async function reload(
  relay: RunningRelay,
  read: () => ConfigReading,
  logger: Logger,
  manager: ServiceManager | undefined,
): Promise<void> {
  manager?.reloading();
  try {
    const { config, warnings } = read();
    await relay.reload(config);
    for (const warning of warnings) logger.warn(warning);
    logger.info('reloaded: secret and key files were read again');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    logger.error({ faults: error.faults }, 'not reloaded: the relay goes on as it was');
  } finally {
    manager?.ready();
  }
}
