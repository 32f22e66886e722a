import { type LoginConfig, loginConfig } from '../../../src/check/context.ts';
import { readConfig } from '../../../src/config/config.ts';
import type { NewFiles, ReadFile, TextFile } from '../../../src/config/files.ts';
import type { Naming } from '../../../src/config/reading.ts';
import type { OptionName } from '../../../src/config/settings/settings.ts';
import { ConfigError } from '../../../src/start-errors.ts';

/** The variables that every relay needs. */
export const minimal = {
  FRONTEND_ORIGIN: 'https://app.example.com',
  PROVIDER_CLIENT_ID: 'client',
  PROVIDER_CLIENT_SECRET: 'secret',
};

/** The input of a configuration. The default of `environment` is {@link minimal}. */
export interface Given {
  flags?: Partial<Record<OptionName, string | string[]>>;
  environment?: Record<string, string>;
  files?: Record<string, Partial<TextFile>>;
  /** The default reads the files above. */
  readFile?: ReadFile;
  newFiles?: NewFiles;
}

/** Reads a configuration of one registration and one front end. @throws {ConfigError} */
export function read({
  flags = {},
  environment = minimal,
  files = {},
  readFile = readFrom(files),
  newFiles,
}: Given): { config: LoginConfig; warnings: readonly string[]; naming: Naming } {
  const lists: Partial<Record<OptionName, string[]>> = {};
  for (const [name, value] of Object.entries(flags)) lists[name as OptionName] = [value].flat();
  const { config, warnings, namingOf } = readConfig({
    flags: lists,
    environment,
    readFile,
    ...(newFiles && { newFiles }),
  });
  const login = loginConfig(config);
  return { config: login, warnings, naming: namingOf(login.pathName, login.frontEnd) };
}

function readFrom(files: NonNullable<Given['files']>): ReadFile {
  return (path) => {
    const file = files[path];
    if (!file) throw Object.assign(new Error(path), { code: 'ENOENT' });
    return { text: '', readableByOthers: false, ...file };
  };
}

/** The faults of a configuration; none if it is right. */
export function faults(given: Given): readonly string[] {
  try {
    read(given);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}
