import { randomBytes } from 'node:crypto';
import { Secret, UnseenSecret } from '../sealing/secret.ts';
import { codeOf, isMissingFile } from '../text-files.ts';
import { credentialPath, readNamedFile } from './named-file.ts';
import type { Reading } from './reading.ts';
import { isVisible, secretVariables } from './secret-variables.ts';
import type { Level } from './settings/setting.ts';
import type { NameAt } from './settings/settings.ts';
import { whyUnfilled } from './unfilled-values.ts';

const shortestSecret = 32;

/** The lines of the file: the current secret and, during a rotation, the previous one. */
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
  const { key } = secretVariables;
  const inVariable = environment[key];
  if (inVariable && values.keyFile !== undefined) {
    reportVariableFault(key, `and ${describe('keyFile')} are both given: give only one`);
  }
  if (inVariable)
    return { path: undefined, secrets: readKeyVariable(reading, key, inVariable) ?? [new UnseenSecret()] };
  const [state] = reading.environment['STATE_DIRECTORY']?.split(':') ?? [];
  const inState = state ? `${state}/key` : undefined;
  const path = values.keyFile ?? credentialPath(reading, 'key') ?? inState;
  const isNew = path !== undefined && newFiles !== undefined && isMissingFile(path, readFile);
  if (isNew) reportUncreatable(reading, path);
  return { path, secrets: isNew ? undefined : readSecrets(reading, path, 'keyFile') };
}

/** Reads one or two lines from a variable, as from a key file. Undefined after a fault. */
function readKeyVariable({ reportVariableFault, warnOfVariable }: Reading<'relay'>, name: string, text: string) {
  const unfilled = whyUnfilled(text, true);
  if (unfilled !== undefined) return reportVariableFault(name, unfilled);
  const secrets = readSecretLines(text.replace(/\r?\n$/, ''));
  const message = `must have one or two lines, each of ${shortestSecret} or more characters`;
  if (secrets === undefined) return reportVariableFault(name, message);
  warnOfVariable(name, isVisible);
  return secrets;
}

/** Reports why a missing key file cannot be created. */
function reportUncreatable(reading: Reading<'relay'>, path: string): void {
  // A secret that was given instead of a path must not become the name of a file.
  if (!path.includes('/')) {
    const advice = 'To create it in this directory, start the path with ./';
    reading.reportFault('keyFile', `names a file that does not exist. ${advice}`);
    return;
  }
  try {
    reading.newFiles?.expect(path);
  } catch (error) {
    reportFailure(reading, path, error);
  }
}

/**
 * Creates a key file, or says that the command creates none. Call it only if there is no fault, because a created file
 * stays.
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
    return reportFailure(reading, path, error);
  }
  // Another relay may have created it at the same moment.
  return readSecrets(reading, path, 'keyFile');
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'names a file in a directory that does not exist',
  EACCES: 'names a file that does not exist, in a directory that this user may not write to',
  EROFS: 'names a file that does not exist, in a directory that is read-only',
};

const otherReason = `names a file that does not exist and cannot be created. Create it with one line of ${shortestSecret} or more characters`;

/** Reports why a key file was not or cannot be created. */
function reportFailure({ reportFault, reportUnreadable }: Reading<'relay'>, path: string, error: unknown): undefined {
  const code = codeOf(error);
  const reason = reasons[code] ?? otherReason;
  // systemd creates the state directories of services there, so they are missing before the first start.
  if (code !== 'ENOENT' || !path.startsWith('/var/lib/')) return reportFault('keyFile', reason);
  reportUnreadable('keyFile', reason, 'systemd creates the state directory of a service when it starts');
}

/** Reads the secrets in a file, if a setting names one. Undefined after a fault. */
export function readSecrets<At extends Level>(
  reading: Reading<At>,
  path: string | undefined,
  name: NameAt<At>,
): KeySecrets | undefined {
  const text = readNamedFile(reading, name, path);
  if (text === undefined) return undefined;
  // Only the service may read the file, so its content cannot be checked here.
  if (typeof text === 'object') return [new UnseenSecret()];
  const message = `must name a file of one or two lines, each of ${shortestSecret} or more characters`;
  return readSecretLines(text) ?? reading.reportFault(name, message);
}

/** The secrets in the text of a file; undefined if they are too short, or too many. */
export function readSecretLines(text: string): KeySecrets | undefined {
  const [current = '', ...previous] = text.split(/\r?\n/);
  const isShort = [current, ...previous].some((one) => one.length < shortestSecret);
  if (isShort || previous.length > 1) return undefined;
  return [new Secret(current), ...previous.map((one) => new Secret(one))];
}
