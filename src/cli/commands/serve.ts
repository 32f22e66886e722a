import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import { findGivenOption, type OptionSources } from '../../config/option-sources.ts';
import { describeRow, options } from '../../config/settings/settings.ts';
import { limits } from '../../limits.ts';
import { createLogger, flushLog } from '../../observability/log.ts';
import { startRelay } from '../../relay/running-relay.ts';
import { findEndedLogins } from '../logins-ended-by-reload.ts';
import { printError } from '../print.ts';
import { createConfigReader, findRestartWarnings, handleReloadSignals, reload } from '../reload.ts';
import { connectServiceManager } from '../service-manager.ts';
import { endOnUncaughtErrors, waitForStopSignal } from '../stop.ts';
import { watchFiles } from '../watch-files.ts';

/**
 * `login-relay serve`: creates the relay, listens, reloads, and closes. A socket that systemd passes replaces the
 * configured port.
 *
 * @throws {ConfigError} @throws {ListenError}
 */
export async function serve(sources: OptionSources): Promise<void> {
  const read = createConfigReader(sources);
  const { config, warnings } = read();
  const { logLevel: level, logFormat: format } = config;
  const journalStream = sources.environment['JOURNAL_STREAM'];
  const logger = await createLogger({ level, format, journalStream });
  endOnUncaughtErrors(logger);
  for (const warning of warnings) logger.warn(warning);
  const manager = connectServiceManager(process.env, process.pid, (error) =>
    logger.warn({ error }, explainNotifyFailure(error)),
  );
  const { socket } = manager;
  if (socket) warnOfUnusedAddress(sources, logger);
  // Signals are handled before the start, because by default a signal during the start would end the process.
  const stopped = waitForStopSignal();
  const reloads = handleReloadSignals();
  if (config.certificate) watchFiles(config.certificate.files, reloads.requestReload);

  const relay = await startRelay(config, logger, socket);
  const { address, metricsAddress } = relay;
  // The log leaves out what is undefined.
  const socketActivated = socket ? true : undefined;
  logger.info({ address, socketActivated, metricsAddress, ...callbacksOf(config) }, 'listening');
  manager.ready();

  /** Reads the configuration for a reload, with warnings about the change. */
  const readAgain = () => {
    const reading = read();
    const restartWarnings = findRestartWarnings(config, reading.config, socket !== undefined);
    // Settings that need a restart have their values of the start. Logins depend on the last reload.
    const endedLogins = findEndedLogins(relay.config(), reading.config);
    return { ...reading, warnings: [...reading.warnings, ...restartWarnings, ...endedLogins] };
  };
  const reloadOnce = async (): Promise<undefined> => {
    await reloads.next();
    await reload(relay, readAgain, logger, manager);
  };
  let signal: NodeJS.Signals | undefined;
  while (signal === undefined) signal = await Promise.race([stopped, reloadOnce()]);
  const requestsInFlight = relay.requestsInFlight();
  logger.info({ signal, requestsInFlight }, 'stopping');
  if (signal === 'SIGINT' && requestsInFlight > 0) {
    // This is not awaited, because the relay must stop even if nobody reads the output.
    printError(describeWaiting(requestsInFlight));
  }
  await Promise.all([manager.stopping(), relay.close()]);
  await flushLog(logger);
}

/** The callbacks to register at the providers, as the log names them. */
function callbacksOf({ registrations }: Config) {
  const urls = [...new Set(registrations.flatMap(({ paths }) => paths.map(({ callbackUri }) => callbackUri)))];
  return urls.length === 1 ? { callbackUrl: urls[0] } : { callbackUrls: urls };
}

/**
 * Warns about a port or host in flags or variables, because systemd's socket replaces them. A port or host in a file
 * causes no warning.
 */
function warnOfUnusedAddress(sources: OptionSources, logger: Logger): void {
  for (const name of ['port', 'host'] as const) {
    if (findGivenOption(name, sources) === undefined) continue;
    const setting = describeRow(options[name]);
    logger.warn(`${setting} has no effect: systemd passes the socket to listen on`);
  }
}

function describeWaiting(requests: number): string {
  const waitedFor = requests === 1 ? '1 request' : `${requests} requests`;
  const seconds = limits.stopTime / 1000;
  return `Stopping: waiting for ${waitedFor} in flight, ${seconds} seconds at most.\nPress Ctrl-C again to end at once.\n`;
}

/** Explains why the service manager does not learn the state of the relay. @param code the code of the error */
function explainNotifyFailure(code: string): string {
  if (code !== 'ENOENT') return 'systemd-notify has failed: systemd does not know the state of this process';
  return (
    'NOTIFY_SOCKET is set, but there is no program systemd-notify, so nothing learns that the relay is ready. ' +
    'In a container, start it with --sdnotify=conmon (Podman), or unset NOTIFY_SOCKET'
  );
}
