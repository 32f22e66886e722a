import { randomBytes } from 'node:crypto';
import { Secret, UnseenSecret } from '../sealing/secret.ts';
import { codeOf, isMissingFile } from '../text-files.ts';
import { isUnseen, type Reading } from './map-reading.ts';
import { credentialPath, readNamedFile } from './named-file.ts';
import { secretVariables, visibilityWarning } from './secret-variables.ts';
import type { Level } from './settings/setting.ts';
import type { NameAt } from './settings/settings.ts';
import { whySecretUnfilled } from './unfilled-values.ts';

const shortestSecret = 32;
/** The content of a key file, in the words of a fault. */
export const secretLines = `one or two lines, each of ${shortestSecret} or more characters`;

/** The secrets from which keys are derived: the current secret and, during a rotation, the previous one. */
export type KeySecrets = readonly [Secret, ...Secret[]];

/**
 * Reads the secrets of the relay's keys: from the variable `KEY`, else from the file of the option, else from the systemd
 * credential, else from `key` in systemd's state directory.
 *
 * @returns a path without secrets if the file has to be created, and after a fault; neither if nothing is given, so that
 *   the keys come from the client secret
 */
export function readKeyFile(reading: Reading<'relay'>) {
  const { values, newFiles, readFile, environment, describe, reportVariableFault } = reading;
  const variable = secretVariables.key;
  const inVariable = environment[variable];
  if (inVariable) {
    if (values.keyFile !== undefined) {
      reportVariableFault(variable, `and ${describe('keyFile')} are both given: give only one`);
    }
    // After a fault, a stand-in takes the place of the key. Otherwise, the key would be reported as missing as well.
    return { path: undefined, secrets: readKeyVariable(reading, variable, inVariable) ?? [new UnseenSecret()] };
  }
  const path = values.keyFile ?? credentialPath(reading, 'key') ?? keyInStateDirectory(environment);
  const hasToBeCreated = path !== undefined && newFiles !== undefined && isMissingFile(path, readFile);
  if (!hasToBeCreated) return { path, secrets: readSecrets(reading, path, 'keyFile') };
  reportUncreatable(reading, path);
  return { path, secrets: undefined };
}

/** The key file in the first state directory of a systemd service; undefined outside of a service. */
function keyInStateDirectory(environment: Reading<'relay'>['environment']): string | undefined {
  const [directory] = environment['STATE_DIRECTORY']?.split(':') ?? [];
  return directory ? `${directory}/key` : undefined;
}

/** Reads one or two lines from a variable, as from a key file; undefined after a fault. */
function readKeyVariable({ reportVariableFault, warnOfVariable }: Reading<'relay'>, name: string, text: string) {
  const whyNot = whySecretUnfilled(text);
  if (whyNot !== undefined) return reportVariableFault(name, whyNot);
  const secrets = parseSecretLines(text.replace(/\r?\n$/, ''));
  const message = `must have ${secretLines}`;
  if (secrets === undefined) return reportVariableFault(name, message);
  warnOfVariable(name, visibilityWarning);
  return secrets;
}

/** Reports why a missing key file cannot be created. Does nothing if it can. */
function reportUncreatable(reading: Reading<'relay'>, path: string): void {
  // A secret that was given instead of a path must not become the name of a file.
  if (!path.includes('/')) {
    const advice = 'To create it in this directory, start the path with ./';
    reading.reportFault('keyFile', `names a file that does not exist. ${advice}`);
    return;
  }
  try {
    reading.newFiles?.expectCreatable(path);
  } catch (error) {
    reportCreationError(reading, path, error);
  }
}

/**
 * Creates a key file with a random secret. A command that creates no files only warns that `serve` will create it, and
 * gets a random secret in its place. Call it only if there is no fault, because a created file stays.
 *
 * @returns its secrets, or undefined after reporting a fault
 */
export function createKeyFile(reading: Reading<'relay'>, path: string): KeySecrets | undefined {
  const { newFiles, warn } = reading;
  const secret = new Secret(randomBytes(32).toString('base64url'));
  const advice = 'Replicas need a copy of it';
  if (newFiles?.create === undefined) {
    warn('keyFile', `names a file that does not exist: serve will create ${path}. ${advice}`);
    return [secret];
  }
  try {
    const created = newFiles.create(path, `${secret.reveal()}\n`);
    if (created) warn('keyFile', `names a file that did not exist: created ${path}. ${advice}`);
  } catch (error) {
    return reportCreationError(reading, path, error);
  }
  // The file is read, because another relay may have created it at the same moment, with another secret.
  return readSecrets(reading, path, 'keyFile');
}

/** Reasons why a key file cannot be created, by the code of the error. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'names a file in a directory that does not exist',
  EACCES: 'names a file that does not exist, in a directory that this user may not write to',
  EROFS: 'names a file that does not exist, in a directory that is read-only',
};

const otherReason = `names a file that does not exist and cannot be created. Create it with one line of ${shortestSecret} or more characters`;

/** Reports why a key file was not or cannot be created. */
function reportCreationError(
  { reportFault, reportUnreadable }: Reading<'relay'>,
  path: string,
  error: unknown,
): undefined {
  const code = codeOf(error);
  const reason = reasons[code] ?? otherReason;
  // Before the first start of a systemd service, its state directory is missing, and `check` must not call that a fault.
  const isStateDirectory = code === 'ENOENT' && path.startsWith('/var/lib/');
  if (!isStateDirectory) return reportFault('keyFile', reason);
  reportUnreadable('keyFile', reason, 'systemd creates the state directory of a service when it starts');
}

/** Reads the secrets in the file that a setting names; undefined if it names none, and after a fault. */
export function readSecrets<At extends Level>(
  reading: Reading<At>,
  path: string | undefined,
  name: NameAt<At>,
): KeySecrets | undefined {
  const text = readNamedFile(reading, name, path);
  if (text === undefined) return undefined;
  if (isUnseen(text)) return [new UnseenSecret()];
  const message = `must name a file of ${secretLines}`;
  return parseSecretLines(text) ?? reading.reportFault(name, message);
}

/** Parses one or two lines, each a secret; undefined if there are more, or one is too short. */
export function parseSecretLines(text: string): KeySecrets | undefined {
  const [current = '', ...previous] = text.split(/\r?\n/);
  const isShort = [current, ...previous].some((secret) => secret.length < shortestSecret);
  if (isShort || previous.length > 1) return undefined;
  return [new Secret(current), ...previous.map((secret) => new Secret(secret))];
}
