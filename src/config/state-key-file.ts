import { Secret } from '../secret.ts';
import type { OptionSources, Report } from './option-values.ts';
import { isMissingCredential, type ReadFile, readSecretFile } from './secret-file.ts';

const shortestKey = 32;
const credentialName = 'state-key';

/**
 * The path of the file with the keys for states: the one that the option names, else the systemd
 * credential.
 *
 * @returns undefined if neither exists
 */
export function stateKeyPath(
  optionValue: string | undefined,
  environment: OptionSources['environment'],
  readFile: ReadFile,
): string | undefined {
  if (optionValue !== undefined) return optionValue;
  const directory = environment['CREDENTIALS_DIRECTORY'];
  if (!directory) return undefined;
  const path = `${directory}/${credentialName}`;
  return isMissingCredential(path, readFile) ? undefined : path;
}

/**
 * Reads the keys for states: a line each, the current one first, then the previous one if any.
 *
 * @returns undefined if there is no file, or after reporting why it is of no use
 */
export function readStateKeys(
  path: string | undefined,
  readFile: ReadFile,
  fault: Report,
  warn: Report,
): readonly [Secret, ...Secret[]] | undefined {
  if (path === undefined) return undefined;
  const text = readSecretFile('stateKeyFile', path, readFile, fault, warn);
  if (text === undefined) return undefined;
  const [current = '', ...previous] = text.split(/\r?\n/);
  if ([current, ...previous].some((key) => key.length < shortestKey) || previous.length > 1) {
    fault('stateKeyFile', 'must name a file of one or two lines, each of 32 or more characters');
    return undefined;
  }
  return [new Secret(current), ...previous.map((key) => new Secret(key))];
}
