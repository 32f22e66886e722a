import { readFileSync } from 'node:fs';
import { type ConfigReading, readConfig } from '../../../src/config/config.ts';
import type { TextFile } from '../../../src/config/files.ts';
import { ConfigError } from '../../../src/start-errors.ts';

/** What else is given beside a configuration file. */
interface Given {
  readonly flags?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, Partial<TextFile>>>;
}

/** Reads a configuration from the file `config.yaml` and other files, in memory. @throws {ConfigError} */
export function readFileConfig(
  text: string,
  { flags = {}, environment = {}, files = {} }: Given = {},
): ConfigReading {
  const all: Record<string, Partial<TextFile>> = {
    'config.yaml': { text },
    './key': { text: 'k'.repeat(32) },
    ...files,
  };
  return readConfig({
    flags: Object.fromEntries(Object.entries(flags).map(([name, value]) => [name, [value]])),
    environment: { LOGIN_RELAY_CONFIG: 'config.yaml', ...environment },
    readFile(path) {
      const file = all[path];
      if (!file) throw Object.assign(new Error(path), { code: 'ENOENT' });
      return { text: '', readableByOthers: false, ...file };
    },
  });
}

/** The faults of a configuration file; none if it is right. */
export function faultsOfFile(...given: Parameters<typeof readFileConfig>): readonly string[] {
  try {
    readFileConfig(...given);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

const documentation = new URL('../../../docs/configuration.md', import.meta.url);

/** The whole files of docs/configuration.md, by the title of their section. */
export const documentedFiles: ReadonlyMap<string, string> = new Map(
  [
    ...readFileSync(documentation, 'utf8').matchAll(
      /^## ([^\n]+)$(?:(?!^## ).)*?^```yaml\n(.*?)^```$/gms,
    ),
  ].map(([, title = '', file = '']) => [title, file]),
);

/** The secret files that a configuration file names, each with a secret. */
export function secretFilesOf(file: string): readonly string[] {
  return [...file.matchAll(/client-secret-file: (\S+)/g)].map(([, path = '']) => path);
}
