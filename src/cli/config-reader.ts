import { hash } from 'node:crypto';
import { type ConfigReading, readConfig } from '../config/config.ts';
import type { NewFiles, ReadFile } from '../config/files.ts';
import type { OptionSources } from '../config/sources.ts';

/** A configuration, and how its files differ from the previous reading. */
export interface Rereading extends ConfigReading {
  /** The paths of the files whose content has changed. */
  readonly changed: readonly string[];
  /** Whether a file is a credential, which systemd copies only when the service starts. */
  readonly hasCredentials: boolean;
}

/**
 * Makes a function that reads the configuration as it is at the moment. Only its first reading creates
 * files: a key file that is missing later was removed by mistake, or is being replaced. A new key would
 * log everybody out.
 *
 * @returns the function; it throws {@link ConfigError}, and then forgets what it has read
 */
export function configReader(
  sources: OptionSources,
  readFile: ReadFile,
  newFiles: NewFiles,
): () => Rereading {
  let before: ReadonlyMap<string, string> | undefined;
  const credentials = sources.environment['CREDENTIALS_DIRECTORY'];
  return () => {
    // Keep only the digests: old secrets must not stay in memory.
    const digests = new Map<string, string>();
    const reading = readConfig({
      ...sources,
      ...(before === undefined && { newFiles }),
      readFile(path) {
        const file = readFile(path);
        digests.set(path, hash('sha256', file.text));
        return file;
      },
    });
    const paths = [...digests.keys()];
    const changed = paths.filter((path) => digests.get(path) !== before?.get(path));
    before = digests;
    const hasCredentials = paths.some((path) => credentials && path.startsWith(`${credentials}/`));
    return { ...reading, changed, hasCredentials };
  };
}
