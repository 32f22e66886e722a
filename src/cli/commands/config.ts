import { describedProviders } from '../../check/discovery.ts';
import { readConfig } from '../../config/config.ts';
import { migratedFile, printFile } from '../../config/file/print.ts';
import { configFileSchema } from '../../config/file/schema.ts';
import type { Unseen } from '../../config/reading.ts';
import type { OptionSources } from '../../config/sources.ts';
import { print } from '../print.ts';
import type { ConfigAction } from '../program.ts';
import { expectCreatable, readTextFile } from '../text-files.ts';

/**
 * `login-relay config`: `check` only reads the configuration. `print` shows it as a file, with secrets masked, and asks
 * issuers for what they give. `migrate` prints the file that replaces flags and variables. `schema` prints the JSON Schema of such files.
 *
 * @throws {ConfigError}
 */
export async function config(action: ConfigAction, sources: OptionSources): Promise<void> {
  if (action === 'schema') {
    await print(`${JSON.stringify(configFileSchema(), null, 2)}\n`);
    return;
  }
  const newFiles = { expect: expectCreatable };
  const unseen: Unseen[] = [];
  const reading = readConfig({ ...sources, readFile: readTextFile, newFiles, unseen });
  const { config: read, readings, warnings } = reading;
  if (action === 'migrate') {
    await print(migratedFile(readings));
    return;
  }
  if (action === 'print') {
    await print(printFile(readings, read, await describedProviders(read)));
    return;
  }
  await print(
    [
      ...warnings.map((one) => `warning: ${one}`),
      ...unseen.map(({ message, fix }) => `not checked: ${message}; ${fix}`),
      unseen.length === 0
        ? 'The configuration is valid.'
        : 'The rest of the configuration is valid.',
      '',
    ].join('\n'),
  );
}
