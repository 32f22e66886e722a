import type { Logger } from 'pino';
import { type Config, readConfig } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import type { OptionSources } from '../config/option-values.ts';
import { readTextFile } from '../config/text-file.ts';
import { deriveStateKey } from '../oauth/state-keys.ts';
import type { RunningRelay } from '../relay.ts';
import type { Signals } from '../signals.ts';
import { stackFrames } from '../stack-frames.ts';
import type { PassedSocket } from '../systemd/passed-socket.ts';
import { watchFiles } from '../watch-files.ts';

/**
 * `login-relay serve`: runs the relay until it is told to stop.
 *
 * @param socket listened on in place of the configured port
 * @throws {ConfigError} @throws {ListenError}
 */
export async function serve(
  sources: OptionSources,
  signals: Signals,
  socket: PassedSocket | undefined,
): Promise<void> {
  const read = () => readConfig({ ...sources, readFile: readTextFile });
  const { config, warnings } = read();
  // Takes longer than all else: started first, it is done on another thread while the rest loads.
  if (config.stateKeys === undefined) deriveStateKey(config.clientSecret);
  const { createLogger } = await import('../log.ts');
  const { startRelay } = await import('../relay.ts');
  const logger = await createLogger({
    level: config.logLevel,
    format: config.logFormat ?? (process.stdout.isTTY ? 'pretty' : 'json'),
  });
  endOnUncaughtErrors(logger);
  for (const warning of warnings) logger.warn(warning);
  const relay = await startRelay(config, logger, socket);
  // Before anyone hears that it listens: a signal that nothing handles would end the process.
  const readAgain = () => reload(relay, () => read().config, logger);
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

// Nothing is known of the state of a process after such an error: its supervisor starts a new one.
function endOnUncaughtErrors(logger: Logger): void {
  process.on('uncaughtException', (error) => {
    logger.fatal({ stack: stackFrames(error) }, 'uncaught error');
    process.exit(1);
  });
}

async function reload(relay: RunningRelay, read: () => Config, logger: Logger): Promise<void> {
  try {
    await relay.reload(read());
    logger.info('reloaded: secret and key files were read again');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    logger.error({ faults: error.faults }, 'not reloaded: the relay goes on as it was');
  }
}
