import { type Config, readConfig } from './config.ts';
import type { OptionSources } from './option-values.ts';
import type { ReadFile, TextFile } from './secret-file.ts';

/** Everything that a configuration was read from, as data: it holds the secrets. */
export interface ConfigSnapshot extends OptionSources {
  /** By path. */
  readonly files: Readonly<Record<string, TextFile>>;
}

/** A configuration, what to mend about it, and what it was read from. */
export interface ConfigReading {
  readonly config: Config;
  readonly warnings: readonly string[];
  readonly snapshot: ConfigSnapshot;
}

/** Reads the configuration as it is at this moment. @throws {ConfigError} */
export function takeConfigSnapshot(
  { flags, environment }: OptionSources,
  readFile: ReadFile,
): ConfigReading {
  const files: Record<string, TextFile> = {};
  const { config, warnings } = readConfig({
    flags,
    environment,
    readFile(path) {
      const file = readFile(path);
      files[path] = file;
      return file;
    },
  });
  return { config, warnings, snapshot: { flags, environment, files } };
}

/** The configuration once more, whatever has become of the files. */
export function readConfigSnapshot({ flags, environment, files }: ConfigSnapshot): Config {
  return readConfig({
    flags,
    environment,
    readFile(path) {
      const file = files[path];
      if (file === undefined) throw new Error('a file is read that was not read before');
      return file;
    },
  }).config;
}
