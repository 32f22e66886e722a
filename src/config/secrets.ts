import * as v from 'valibot';
import { Secret } from '../secret.ts';
import {
  codeOf,
  isMissingFile,
  type ReadFile,
  reasonOf,
  type TextFile,
  unreadableFile,
} from './files.ts';
import type { Reading } from './reading.ts';
import { visibleCharacters } from './schemas.ts';
import type { SettingName } from './settings/settings.ts';

const noCredential =
  'is required: the systemd credential provider-client-secret is missing or empty. ' +
  'Put the client secret into the file that the unit names, such as /etc/login-relay/client-secret';
const noNamedCredential = (name: string): string =>
  `is required, or the systemd credential ${name}, which is missing or empty`;

/**
 * The systemd credential that holds a client secret.
 *
 * @param entry the name of the registration in a file; undefined: flags and variables describe it
 */
export function clientSecretCredential(entry: string | undefined): string {
  return `${entry ?? 'provider'}-client-secret`;
}

/**
 * Reads the client secret: from the flags, else the variables, else the file, else the systemd credential.
 *
 * @returns the secret, or undefined after reporting why there is none
 */
export function readClientSecret(reading: Reading): Secret | undefined {
  const { values, sourceOf, describe, fault, warn } = reading;
  const source = sourceOf('clientSecret');
  const isInFile = sourceOf('clientSecretFile') !== undefined;
  const name = source === undefined ? 'clientSecretFile' : 'clientSecret';
  if (source !== undefined && isInFile) {
    return fault(name, `and ${describe('clientSecretFile')} are both given: give only one`);
  }
  if (source === 'flag') warn(name, 'is in the shell history; a secret file is safer');
  let secret = values.clientSecret;
  if (source === undefined) {
    secret = isInFile ? secretInFile(reading, values.clientSecretFile) : inCredential(reading);
  }
  if (secret === undefined) return undefined;
  if (secret.trim() !== secret) warn(name, 'holds a secret with a space at its start or end');
  return new Secret(secret);
}

function inCredential(reading: Reading): string | undefined {
  const { entryName, environment, readFile, describe, fault, unread } = reading;
  const name = clientSecretCredential(entryName);
  const directory = environment['CREDENTIALS_DIRECTORY'];
  if (!directory) {
    const asFault = `is required, or ${describe('clientSecret')}`;
    const fix = `give it, unless the service has the systemd credential ${name}`;
    return entryName
      ? unread('clientSecretFile', 'is not given', fix, asFault)
      : fault('clientSecretFile', asFault);
  }
  const path = `${directory}/${name}`;
  if (!isMissingCredential(path, readFile)) return secretInFile(reading, path);
  return fault('clientSecretFile', entryName ? noNamedCredential(name) : noCredential);
}

/** @param path undefined: it has a fault, which was reported */
function secretInFile(reading: Reading, path: string | undefined): string | undefined {
  const text = path && readSecretFile(reading, 'clientSecretFile', path);
  if (text === undefined || v.is(visibleCharacters, text)) return text;
  const message = 'names a file whose content is not one line of printable ASCII';
  return reading.fault('clientSecretFile', message);
}

/**
 * Whether a credential is missing or blank. The unit sets a blank default: without one, systemd would
 * not start the service, and the relay could not log what is missing.
 */
export function isMissingCredential(path: string, readFile: ReadFile): boolean {
  return isMissingFile(path, readFile, (text) => text.trim() === '');
}

const otherUser = 'run this command as root, or as the user of the relay';

/**
 * Reads a file that holds a secret, without its final newline.
 *
 * @param name the option that names the file, for what is reported
 * @returns undefined after reporting why the file cannot be used; a stand-in if only the relay may read it
 */
export function readSecretFile(
  { readFile, fault, warn, unread }: Reading,
  name: SettingName,
  path: string,
): string | undefined {
  let file: TextFile;
  try {
    file = readFile(path);
  } catch (error) {
    const reason = reasonOf(error, unreadableFile) ?? 'names a file that cannot be read';
    return codeOf(error) === 'EACCES' ? unread(name, reason, otherUser) : fault(name, reason);
  }
  if (file.readableByOthers) warn(name, 'names a file that every user can read: chmod o-r it');
  const text = file.text.replace(/\r?\n$/, '');
  return text === '' ? fault(name, 'names an empty file') : text;
}
