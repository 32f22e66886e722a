import { findMissingScopes } from '../../check/access.ts';
import { discoverProviders } from '../../check/discovery.ts';
import { readConfig } from '../../config/config.ts';
import type { Unseen } from '../../config/map-reading.ts';
import { chooseSources, type OptionSources } from '../../config/option-sources.ts';
import { formatChangedSettings, formatConfigFile, formatMigratedFile } from '../../config/shown/print.ts';
import { configFileSchema } from '../../config/shown/schema.ts';
import { newFiles, type ReadFile, readTextFile } from '../../text-files.ts';

export type ConfigAction = 'check' | 'print' | 'migrate' | 'schema';

/**
 * `login-relay config`: `check` reads the configuration; `print` shows it as a file, with secrets masked, and asks
 * issuers; `migrate` prints the file that replaces flags and variables. Without any option, these three read the file
 * of the packaged service, and say so. `schema` prints the JSON Schema of such files.
 *
 * @param changed whether `print` only shows what is set
 * @returns the output
 * @throws {ConfigError}
 */
export async function runConfigAction(
  action: ConfigAction,
  options: OptionSources,
  changed = false,
  readFile: ReadFile = readTextFile,
): Promise<string> {
  if (action === 'schema') return `${JSON.stringify(configFileSchema(), null, 2)}\n`;
  const { expectCreatable } = newFiles;
  const unseen: Unseen[] = [];
  const { sources, why } = chooseSources(options, readFile);
  const given = { ...sources, readFile, newFiles: { expectCreatable }, unseen };
  const { config, readings, warnings } = readConfig(given);
  const comment = why === undefined ? '' : `# ${why}\n`;
  if (action === 'migrate') return comment + formatMigratedFile(readings);
  if (action === 'print' && changed) return comment + formatChangedSettings(readings);
  if (action === 'print') {
    return comment + formatConfigFile(readings, config, await discoverProviders(config));
  }
  const lines = why === undefined ? [] : [`${why}.`];
  for (const warning of warnings) lines.push(`warning: ${warning}`);
  for (const { subject, message, fix } of findMissingScopes(config)) {
    lines.push(`warning: ${subject}: ${message}; ${fix}`);
  }
  for (const { message, fix } of unseen) lines.push(`not checked: ${message}; ${fix}`);
  lines.push(unseen.length === 0 ? 'The configuration is valid.' : 'The rest of the configuration is valid.');
  return `${lines.join('\n')}\n`;
}
