import { randomBytes } from 'node:crypto';
import { Secret } from '../secret.ts';
import { isMissingFile, reasonOf } from './files.ts';
import type { Reading } from './reading.ts';
import { isMissingCredential, readSecretFile } from './secrets.ts';

const shortestSecret = 32;
/** Where systemd creates the state directories of services. */
const stateDirectories = '/var/lib/';
const credential = 'key';

/** The lines of the file: the current secret, and the previous one if there is one. */
export type KeySecrets = readonly [Secret, ...Secret[]];

/**
 * Reads the file that the relay's keys come from: the one that the option names, else the systemd credential, else
 * `key` in systemd's state directory.
 */
export function readKeyFile(reading: Reading) {
  const path = pathOf(reading);
  const { newFiles, readFile } = reading;
  const isNew = path !== undefined && newFiles !== undefined && isMissingFile(path, readFile);
  if (isNew) reportNoRoom(reading, path);
  const there = isNew || path === undefined ? undefined : readSecrets(reading, path);
  return {
    /** Whether there will be one. Otherwise, the keys are derived from the client secret. */
    isNamed: path !== undefined,
    /**
     * The values, to be called only if no fault was reported: creates a missing file, if this command creates files, and
     * reports a fault if it cannot.
     */
    settle: () => ({
      keyFile: path,
      keySecrets: there ?? (path === undefined ? undefined : createSecrets(reading, path)),
    }),
  };
}

function pathOf({ values, environment, readFile }: Reading): string | undefined {
  if (values.keyFile !== undefined) return values.keyFile;
  const { CREDENTIALS_DIRECTORY: credentials, STATE_DIRECTORY: states } = environment;
  const path = `${credentials}/${credential}`;
  if (credentials && !isMissingCredential(path, readFile)) return path;
  return states && `${states.split(':')[0]}/key`;
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'names a file in a directory that does not exist',
  EACCES: 'names a file that does not exist, in a directory that this user may not write to',
  EROFS: 'names a file that does not exist, in a directory that is read-only',
};

const otherReason = `names a file that does not exist and cannot be created. Create it with one line of ${shortestSecret} or more characters`;

/** Reports why a missing file cannot be created. */
function reportNoRoom({ newFiles, fault, unread }: Reading, path: string): void {
  // A secret that was given in place of a path must not become the name of a file.
  if (!path.includes('/')) {
    const advice = 'To create it in this directory, start the path with ./';
    fault('keyFile', `names a file that does not exist. ${advice}`);
    return;
  }
  try {
    newFiles?.expect(path);
  } catch (error) {
    const reason = reasonOf(error, reasons) ?? otherReason;
    if (reason === reasons['ENOENT'] && path.startsWith(stateDirectories)) {
      unread('keyFile', reason, 'systemd creates the state directory of a service when it starts');
    } else {
      fault('keyFile', reason);
    }
  }
}

function createSecrets(reading: Reading, path: string): KeySecrets | undefined {
  const { newFiles, fault, warn } = reading;
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
    return fault('keyFile', reasonOf(error, reasons) ?? otherReason);
  }
  // Another relay may have created it at the same moment.
  return readSecrets(reading, path);
}

/** Reads the lines of a file that keys come from. Undefined after a fault. */
export function readSecrets(
  reading: Reading,
  path: string,
  name: 'keyFile' | 'clientKeyFile' = 'keyFile',
): KeySecrets | undefined {
  const text = readSecretFile(reading, name, path);
  if (text === undefined) return undefined;
  return (
    readSecretLines(text) ??
    reading.fault(
      name,
      `must name a file of one or two lines, each of ${shortestSecret} or more characters`,
    )
  );
}

/** The secrets in the text of a file, without its final line break; undefined if they are too short, or too many. */
export function readSecretLines(text: string): KeySecrets | undefined {
  const [current = '', ...previous] = text.split(/\r?\n/);
  const isShort = [current, ...previous].some((one) => one.length < shortestSecret);
  if (isShort || previous.length > 1) return undefined;
  return [new Secret(current), ...previous.map((one) => new Secret(one))];
}
