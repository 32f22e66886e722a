import { Secret } from '../secret.ts';
import type { Reading } from './reading.ts';
import { isMissingCredential, readSecretFile } from './secret-file.ts';

const shortestKey = 32;
const credentialName = 'state-key';

/**
 * The path of the file with the keys for states: the one that the option names, else the systemd
 * credential.
 *
 * @returns undefined if neither exists
 */
function stateKeyPath({ values, environment, readFile }: Reading): string | undefined {
  if (values.stateKeyFile !== undefined) return values.stateKeyFile;
  const directory = environment['CREDENTIALS_DIRECTORY'];
  if (!directory) return undefined;
  const path = `${directory}/${credentialName}`;
  return isMissingCredential(path, readFile) ? undefined : path;
}

/**
 * Reads the keys for states: a line each, the current one first, then the previous one if any.
 *
 * @returns undefined if there is no file, or after reporting why it cannot be used
 */
export function readStateKeys(reading: Reading): readonly [Secret, ...Secret[]] | undefined {
  const path = stateKeyPath(reading);
  if (path === undefined) return undefined;
  const text = readSecretFile(reading, 'stateKeyFile', path);
  if (text === undefined) return undefined;
  const [current = '', ...previous] = text.split(/\r?\n/);
  if ([current, ...previous].some((key) => key.length < shortestKey) || previous.length > 1) {
    reading.fault(
      'stateKeyFile',
      'must name a file of one or two lines, each of 32 or more characters',
    );
    return undefined;
  }
  return [new Secret(current), ...previous.map((key) => new Secret(key))];
}
