import { describedProviders } from '../../check/described-providers.ts';
import { readConfig } from '../../config/config.ts';
import { withDerived } from '../../config/file/derived.ts';
import { effectiveFile } from '../../config/file/effective.ts';
import { printFile } from '../../config/file/print.ts';
import { readConfigFile } from '../../config/file/read.ts';
import { configFileSchema } from '../../config/file/schema.ts';
import { type OptionSources, withoutOverruled } from '../../config/sources.ts';
import { expectCreatable, readTextFile } from '../../config/text-file.ts';
import type { ConfigAction } from '../config-actions.ts';
import { print } from '../print.ts';

/**
 * `login-relay config`: `check` only reads the configuration. `print` shows it as a file, with secrets masked, and asks
 * issuers for what they give. `schema` prints the JSON Schema of such files.
 *
 * @throws {ConfigError}
 */
export async function config(action: ConfigAction, given: OptionSources): Promise<void> {
  if (action === 'schema') {
    await print(`${JSON.stringify(configFileSchema(), null, 2)}\n`);
    return;
  }
  const sources = withoutOverruled(given);
  const {
    config: read,
    warnings,
    unseen,
  } = readConfig({
    ...sources,
    readFile: readTextFile,
    newFiles: { expect: expectCreatable },
    mayBeUnseen: true,
  });
  if (action === 'print') {
    const file = readConfigFile(sources, readTextFile);
    const effective = effectiveFile(sources, file, read.baseUrl);
    await print(printFile(withDerived(effective, read, await describedProviders(read))));
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
