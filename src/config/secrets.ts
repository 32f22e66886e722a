import * as v from 'valibot';
import { Secret, UnseenSecret } from '../sealing/secret.ts';
import { codeOf, isMissingFile, type TextFile, whyUnreadable } from '../text-files.ts';
import { whyUnfilled } from './literals.ts';
import type { FileText, Reading, Shared } from './reading.ts';
import { visibleCharacters } from './schemas.ts';
import type { Level } from './settings/setting.ts';
import type { NameAt } from './settings/settings.ts';

/** The packaged service names its credential. */
const noCredential =
  'is required: the systemd credential provider-client-secret is missing or empty. ' +
  'Put the client secret into the file that the unit names, such as /etc/login-relay/client-secret';
const otherUser = 'run this command as root, or as the user of the relay';

/** The systemd credential with a client secret: of an entry of a file, or of the only registration. */
export function clientSecretCredential(entry: string | undefined): string {
  return `${entry ?? 'provider'}-client-secret`;
}

/**
 * Reads the client secret: the given one, else from the named file, else from the systemd credential. Undefined after a
 * fault.
 */
export function readClientSecret(reading: Reading<'providers'>): Secret | undefined {
  const { values, sourceOf, describe, fault, warn } = reading;
  const source = sourceOf('clientSecret');
  const isInFile = sourceOf('clientSecretFile') !== undefined;
  const name = source === undefined ? 'clientSecretFile' : 'clientSecret';
  if (source !== undefined && isInFile) {
    return fault(name, `and ${describe('clientSecretFile')} are both given: give only one`);
  }
  if (source === 'flag') warn(name, 'is in the shell history; a secret file is safer');
  const read = () => (isInFile ? readFromFile(reading, values.clientSecretFile) : readFromCredential(reading));
  const secret = source === undefined ? read() : values.clientSecret;
  if (secret === undefined) return undefined;
  if (typeof secret === 'object') return new UnseenSecret();
  if (secret.trim() !== secret) warn(name, 'holds a secret with a space at its start or end');
  return new Secret(secret);
}

/** Reads the client secret from its systemd credential. A command of an operator may not see the service's. */
function readFromCredential(reading: Reading<'providers'>): FileText {
  const { environment, describe, fault, unread } = reading;
  const entryName = reading.map.name;
  const name = clientSecretCredential(entryName);
  const path = credentialPath(reading, name);
  if (path !== undefined) return readFromFile(reading, path);
  if (environment['CREDENTIALS_DIRECTORY']) {
    const ofEntry = `is required, or the systemd credential ${name}, which is missing or empty`;
    return fault('clientSecretFile', entryName ? ofEntry : noCredential);
  }
  const asFault = `is required, or ${describe('clientSecret')}`;
  const fix = `give it, unless the service has the systemd credential ${name}`;
  return entryName ? unread('clientSecretFile', 'is not given', fix, asFault) : fault('clientSecretFile', asFault);
}

/** Reads a client secret from a file: one line that a request can carry. */
function readFromFile(reading: Reading<'providers'>, path: string | undefined): FileText {
  const text = readNamedFile(reading, 'clientSecretFile', path);
  if (typeof text !== 'string' || v.is(visibleCharacters, text)) return text;
  const message = 'names a file whose content is not one line of printable ASCII';
  return reading.fault('clientSecretFile', message);
}

/**
 * The path of a systemd credential. Undefined if it is missing or blank. The packaged unit sets a blank default,
 * because systemd would otherwise not start the service, and the relay could not log what is missing.
 */
export function credentialPath(given: Pick<Shared, 'environment' | 'readFile'>, name: string) {
  const directory = given.environment['CREDENTIALS_DIRECTORY'];
  const path = `${directory}/${name}`;
  return !directory || isMissingFile(path, given.readFile, true) ? undefined : path;
}

/**
 * Reads a file that a setting names, without its final newline.
 *
 * @param path undefined if none is named, or after a fault
 * @param access `public` if everyone may read the file
 */
export function readNamedFile<At extends Level>(
  { readFile, fault, warn, unread }: Reading<At>,
  name: NameAt<At>,
  path: string | undefined,
  access: 'private' | 'public' = 'private',
): FileText {
  if (path === undefined) return undefined;
  let file: TextFile;
  try {
    file = readFile(path);
  } catch (error) {
    const reason = whyUnreadable(error);
    return codeOf(error) === 'EACCES' ? unread(name, reason, otherUser) : fault(name, reason);
  }
  if (file.readableByOthers && access === 'private') {
    warn(name, 'names a file that every user can read: chmod o-r it');
  }
  const text = file.text.replace(/\r?\n$/, '');
  if (text === '') return fault(name, 'names an empty file');
  const unfilled = access === 'private' ? whyUnfilled(text, true) : undefined;
  return unfilled === undefined ? text : fault(name, `names a file whose content ${unfilled}`);
}
