import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type Config, type ConfigReading, readConfig } from '../../../src/config/config.ts';
import { createPlacedMessages } from '../../../src/config/fault.ts';
import { parseConfigFile } from '../../../src/config/file/read.ts';
import type { OptionSources } from '../../../src/config/option-sources.ts';
import { createReadings, type Readings } from '../../../src/config/readings.ts';
import type { OptionName } from '../../../src/config/settings/settings.ts';
import type { SettingsMap } from '../../../src/config/settings-map.ts';
import { ConfigError } from '../../../src/failures/start-errors.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import { type NewFiles, type ReadFile, readTextFile, type TextFile } from '../../../src/text-files.ts';

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

/** Reads a configuration. @throws {ConfigError} */
export function readWhole({
  flags = {},
  environment = minimal,
  files = {},
  readFile = readFrom(files),
  newFiles,
}: Given): ConfigReading {
  const lists: Partial<Record<OptionName, string[]>> = {};
  for (const [name, value] of Object.entries(flags)) lists[name as OptionName] = [value].flat();
  return readConfig({ flags: lists, environment, readFile, ...(newFiles && { newFiles }) });
}

function readFrom(files: NonNullable<Given['files']>): ReadFile {
  return (path) => {
    const file = files[path];
    if (!file) throw Object.assign(new Error(path), { code: 'ENOENT' });
    return { text: '', readableByOthers: false, ...file };
  };
}

/** The configuration of the logins of the first front end at the first registration. */
export type LoginConfig = ReturnType<typeof loginConfig>;

/** Reduces a configuration to its first registration and its first front end. */
function loginConfig({ registrations, frontEnds, ...relay }: Config) {
  const [{ name: pathName, ...registration }] = registrations;
  const [first] = frontEnds;
  if (first === undefined) throw new Error('there is no front end');
  const { name: frontEnd, registrations: _, ...ofFrontEnd } = first;
  return { ...relay, ...registration, ...ofFrontEnd, pathName, frontEnd };
}

/** Reads a configuration of one registration and one front end. @throws {ConfigError} */
export function read(given: Given): { config: LoginConfig; warnings: readonly string[] } {
  const { config, warnings } = readWhole(given);
  return { config: loginConfig(config), warnings };
}

/** The faults of a configuration; none if it is right. */
export function faults(given: Given): readonly string[] {
  try {
    readWhole(given);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

/** The fault of a configuration that has no other. */
export function onlyFault(given: Given): string {
  const all = faults(given);
  expect(all, all.join('\n')).to.have.lengthOf(1);
  return all.join();
}

/** The provider of a configuration whose endpoints are known without discovery. */
export function known(given: Given): Provider {
  const { provider } = read(given).config;
  if (!('known' in provider)) throw new Error('the provider is not known');
  return provider.known;
}

const withFile = (text: string, { environment = {}, files = {}, ...given }: Given = {}): Given => ({
  ...given,
  environment: { LOGIN_RELAY_CONFIG: 'config.yaml', ...environment },
  files: { 'config.yaml': { text }, './key': { text: 'k'.repeat(32) }, ...files },
});

/** Reads a configuration from the file `config.yaml`. @throws {ConfigError} */
export function readFileConfig(...given: Parameters<typeof withFile>): ConfigReading {
  return readWhole(withFile(...given));
}

/** The faults of a configuration file; none if it is right. */
export function faultsOfFile(...given: Parameters<typeof withFile>): readonly string[] {
  return faults(withFile(...given));
}

/** The settings of a file, unchecked, if it is clear what it means, and the faults of its form. */
export function parsedFile(text: string, from = 'config.yaml') {
  const faults = createPlacedMessages();
  const relay = parseConfigFile(text, from, faults, createPlacedMessages());
  const { providers, 'front-ends': frontEnds } = relay?.inside ?? {};
  const file = relay && { ...relay, relay, providers, frontEnds };
  return { file, faults: faults.inOrder() };
}

/** The settings of a file, unchecked. @throws {ConfigError} if its form has faults */
export function settingsOfFile(text: string, from?: string) {
  const { file, faults } = parsedFile(text, from);
  if (file === undefined || faults.length > 0) throw new ConfigError(faults);
  return file;
}

/** Reads settings whose faults do not matter. */
export function readingsOf(
  file: SettingsMap<'relay'> | undefined,
  sources: OptionSources = { flags: {}, environment: {} },
): Readings {
  const ignored = { faults: createPlacedMessages(), warnings: createPlacedMessages(), readFile: readTextFile };
  return createReadings({ ...sources, ...ignored }, file);
}

const documentation = new URL('../../../docs/configuration.md', import.meta.url);

/** The whole files of docs/configuration.md, by the title of their section. */
export const documentedFiles: ReadonlyMap<string, string> = new Map(
  readFileSync(documentation, 'utf8')
    .matchAll(/^## ([^\n]+)$(?:(?!^## ).)*?^```yaml\n(.*?)^```$/gms)
    .map(([, title = '', file = '']) => [title, file]),
);

/** The secret files that a configuration file names, each with a secret. */
export function secretFilesOf(file: string): readonly string[] {
  return [...file.matchAll(/client-secret-file: ([^\s,}]+)/g)].map(([, path = '']) => path);
}
