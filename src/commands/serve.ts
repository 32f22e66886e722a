import { availableParallelism } from 'node:os';
import type { Logger } from 'pino';
import { ConfigError } from '../config/config-error.ts';
import { type ConfigReading, takeConfigSnapshot } from '../config/config-snapshot.ts';
import type { OptionSources } from '../config/option-values.ts';
import { readTextFile } from '../config/text-file.ts';
import { deriveStateKey } from '../oauth/state-keys.ts';
import type { RunningRelay } from '../relay.ts';
import type { Signals } from '../signals.ts';
import type { PassedSocket } from '../systemd/passed-socket.ts';
import { endOnUncaughtErrors } from '../uncaught-errors.ts';
import { watchFiles } from '../watch-files.ts';
import { WorkerError } from '../workers/worker-error.ts';

/**
 * `login-relay serve`: runs the relay until it is told to stop.
 *
 * @param socket listened on in place of the configured port
 * @throws {ConfigError} @throws {ListenError} @throws {WorkerError}
 */
export async function serve(
  sources: OptionSources,
  signals: Signals,
  socket: PassedSocket | undefined,
): Promise<void> {
  const read = () => takeConfigSnapshot(sources, readTextFile);
  const reading = read();
  const { config, warnings } = reading;
  const workers = config.workers === 'auto' ? availableParallelism() : config.workers;
  // Takes longer than all else: started first, it is done on another thread while the rest loads.
  if (workers === 1 && config.stateKeys === undefined) deriveStateKey(config.clientSecret);
  const { createLogger } = await import('../log.ts');
  const logger = await createLogger({ level: config.logLevel, format: config.logFormat });
  endOnUncaughtErrors(logger);
  for (const warning of warnings) logger.warn(warning);
  const relay = await start(reading, workers, logger, socket);
  // Before anyone hears that it listens: a signal that nothing handles would end the process.
  const readAgain = () => reload(relay, read, logger);
  signals.onReload(readAgain);
  if (config.certificate) watchFiles(config.certificate.files, readAgain);
  const stopped = signals.stop();
  const { address, metricsAddress } = relay;
  logger.info(
    { address, socketActivated: socket && true, metricsAddress, callbackUrl: config.redirectUri },
    'listening',
  );
  logger.info({ signal: await stopped }, 'stopping');
  await relay.stop();
}

async function start(
  reading: ConfigReading,
  workers: number,
  logger: Logger,
  socket: PassedSocket | undefined,
): Promise<RunningRelay> {
  if (workers === 1) {
    const { startRelay } = await import('../relay.ts');
    return await startRelay(reading.config, logger, socket);
  }
  const { startWorkers } = await import('../workers/start-workers.ts');
  return await startWorkers(workers, reading, logger, socket);
}

async function reload(
  relay: RunningRelay,
  read: () => ConfigReading,
  logger: Logger,
): Promise<void> {
  try {
    await relay.reload(read());
    logger.info('reloaded: secret and key files were read again');
  } catch (error) {
    const faults = faultsIn(error);
    if (faults === undefined) throw error;
    logger.error({ faults }, 'not reloaded: the relay goes on as it was');
  }
}

function faultsIn(error: unknown): readonly string[] | undefined {
  if (error instanceof ConfigError) return error.faults;
  return error instanceof WorkerError ? [error.message] : undefined;
}
