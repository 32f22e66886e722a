import type { Logger } from 'pino';
import type { RunningRelay } from '../relay/running-relay.ts';
import { ConfigError } from '../start-errors.ts';
import type { ServiceManager } from '../systemd.ts';
import type { Rereading } from './config-reader.ts';

const unchangedCredentials =
  'reloaded, but nothing has changed: systemd copies credentials only when the service starts. ' +
  'To use a changed one, restart the service';

/**
 * Reloads the configuration, as SIGHUP requests. If the new one has faults, the relay keeps the old one.
 *
 * @param read reads the configuration again
 */
export async function reload(
  relay: RunningRelay,
  read: () => Rereading,
  logger: Logger,
  manager: ServiceManager | undefined,
): Promise<void> {
  manager?.reloading();
  try {
    const { config, warnings, changed, hasCredentials } = read();
    const reloaded = await relay.reload(config);
    // The relay was told to stop in the meantime.
    if (!reloaded) return;
    for (const warning of warnings) logger.warn(warning);
    if (changed.length > 0) logger.info({ changed }, 'reloaded: files have changed');
    else if (hasCredentials) logger.warn(unchangedCredentials);
    else logger.info('reloaded: no file has changed');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    logger.error({ faults: error.faults }, 'not reloaded: the relay keeps its configuration');
  }
  manager?.ready();
}

/** An event that can occur again and again, and that one caller waits for. */
export class Alarm {
  #pending = Promise.withResolvers<undefined>();

  /** Ends the current wait. If there is none, ends the next one at once. */
  readonly raise = (): void => this.#pending.resolve(undefined);

  /** Resolves once the alarm is raised. Alarms that were raised since the last wait count as one. */
  async raised(): Promise<undefined> {
    await this.#pending.promise;
    this.#pending = Promise.withResolvers();
  }
}
