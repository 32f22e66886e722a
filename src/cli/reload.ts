import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { type Config, readConfig } from '../config/config.ts';
import type { OptionSources } from '../config/option-sources.ts';
import type { Option } from '../config/settings/setting.ts';
import { describeRow, namesAt, options } from '../config/settings/settings.ts';
import { ConfigError } from '../failures/start-errors.ts';
import { headerSizeFor, type RunningRelay } from '../relay/running-relay.ts';
import { newFiles, readTextFile } from '../text-files.ts';
import type { ServiceManager } from './service-manager.ts';

/**
 * Creates a function that reads the present configuration. Only its first call creates files: a key file that is
 * missing later was removed by mistake, or is being replaced, and a new key would log everybody out.
 *
 * @returns the function. It also returns which files differ from the last successful reading. It throws
 *   {@link ConfigError}
 */
export function createConfigReader(sources: OptionSources) {
  let digestsBefore: ReadonlyMap<string, string> | undefined;
  const credentials = sources.environment['CREDENTIALS_DIRECTORY'];
  return () => {
    // Only digests are kept, because old secrets must not stay in memory.
    const digests = new Map<string, string>();
    const reading = readConfig({
      ...sources,
      ...(digestsBefore === undefined && { newFiles }),
      readFile(path) {
        const file = readTextFile(path);
        digests.set(path, hash('sha256', file.text));
        return file;
      },
    });
    const paths = [...digests.keys()];
    const changed = paths.filter((path) => digests.get(path) !== digestsBefore?.get(path));
    digestsBefore = digests;
    const hasCredentials = paths.some((path) => credentials && path.startsWith(`${credentials}/`));
    return {
      ...reading,
      changed,
      /** Whether a file is a credential, which systemd copies only when the service starts. */
      hasCredentials,
    };
  };
}

/** Waits for SIGHUP and other requests to reload. Requests during a reload count as one. */
export function handleReloadSignals() {
  let requested = Promise.withResolvers<void>();
  const requestReload = () => requested.resolve();
  process.on('SIGHUP', requestReload);
  return {
    requestReload,
    /** Resolves when a reload is requested, or at once if it was requested since the last call. */
    async next(): Promise<void> {
      await requested.promise;
      requested = Promise.withResolvers();
    },
  };
}

const unchangedCredentials =
  'reloaded, but nothing has changed: systemd copies credentials only when the service starts. ' +
  'To use a changed one, restart the service';

/**
 * Reloads the configuration. If the new one has faults, the relay keeps the old one.
 *
 * @param read reads the configuration again
 */
export async function reload(
  relay: RunningRelay,
  read: ReturnType<typeof createConfigReader>,
  logger: Logger,
  manager: ServiceManager,
): Promise<void> {
  manager.reloading();
  try {
    const { config, warnings, changed, hasCredentials } = read();
    const isReloaded = await relay.reload(config);
    // A relay that was told to stop meanwhile does not reload.
    if (!isReloaded) return;
    for (const warning of warnings) logger.warn(warning);
    if (changed.length > 0) logger.info({ changed }, 'reloaded: files have changed');
    else if (hasCredentials) logger.warn(unchangedCredentials);
    else logger.info('reloaded: no file has changed');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    logger.error({ faults: error.faults }, 'not reloaded: the relay keeps its configuration');
  }
  manager.ready();
}

/**
 * Finds the changed settings that need a restart, and returns a warning for each.
 *
 * @param hasSocket whether systemd passes the socket, so that port and host have no effect at all
 */
export function findRestartWarnings(started: Config, reloaded: Config, hasSocket: boolean): readonly string[] {
  const settings = namesAt('relay');
  type Name = (typeof settings)[number];
  const needsRestart = (name: Name) => {
    const { restart }: Option = options[name];
    const before = started[name];
    const after = reloaded[name];
    // A reload changes the value of such a setting, but cannot start or end its use.
    if (restart === 'presence') return (before === undefined) !== (after === undefined);
    return restart === true && !isDeepStrictEqual(before, after);
  };
  const withoutEffect: Name[] = [];
  if (hasSocket) withoutEffect.push('port', 'host');
  // Without a metrics port, these two have no effect.
  if (!started.metrics || !reloaded.metrics) withoutEffect.push('metricsHost', 'metricsNames');
  const warnings = settings
    .filter((name) => needsRestart(name) && !withoutEffect.includes(name))
    .map((name) => `${describeRow(options[name])} has changed: restart the relay to use it`);
  if (headerSizeFor(reloaded) <= headerSizeFor(started)) return warnings;
  return [
    ...warnings,
    'a front end has sessions now, or a resource opens to browsers: restart the relay to make room for cookies',
  ];
}
