import * as v from 'valibot';
import { Secret, UnseenSecret } from '../sealing/secret.ts';
import { credentialPath, readNamedFile } from './named-file.ts';
import type { FileText, Reading } from './reading.ts';
import { visibleCharacters } from './schemas.ts';

/** The packaged service names its credential. */
const noCredential =
  'is required: the systemd credential provider-client-secret is missing or empty. ' +
  'Put the client secret into the file that the unit names, such as /etc/login-relay/client-secret';

/** The systemd credential with a client secret: of an entry of a file, or of the only registration. */
export function clientSecretCredential(entry: string | undefined): string {
  return `${entry ?? 'provider'}-client-secret`;
}

/**
 * Reads the client secret: the given one, else from the named file, else from the systemd credential. Undefined after a
 * fault.
 */
export function readClientSecret(reading: Reading<'providers'>): Secret | undefined {
  const { values, sourceOf, describe, reportFault, warn } = reading;
  const source = sourceOf('clientSecret');
  const isInFile = sourceOf('clientSecretFile') !== undefined;
  const name = source === undefined ? 'clientSecretFile' : 'clientSecret';
  if (source !== undefined && isInFile) {
    return reportFault(name, `and ${describe('clientSecretFile')} are both given: give only one`);
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
  const { environment, describe, reportFault, reportUnreadable } = reading;
  const entryName = reading.map.name;
  const name = clientSecretCredential(entryName);
  const path = credentialPath(reading, name);
  if (path !== undefined) return readFromFile(reading, path);
  if (environment['CREDENTIALS_DIRECTORY']) {
    const ofEntry = `is required, or the systemd credential ${name}, which is missing or empty`;
    return reportFault('clientSecretFile', entryName ? ofEntry : noCredential);
  }
  const asFault = `is required, or ${describe('clientSecret')}`;
  const fix = `give it, unless the service has the systemd credential ${name}`;
  return entryName
    ? reportUnreadable('clientSecretFile', 'is not given', fix, asFault)
    : reportFault('clientSecretFile', asFault);
}

/** Reads a client secret from a file: one line that a request can carry. */
function readFromFile(reading: Reading<'providers'>, path: string | undefined): FileText {
  const text = readNamedFile(reading, 'clientSecretFile', path);
  if (typeof text !== 'string' || v.is(visibleCharacters, text)) return text;
  const message = 'names a file whose content is not one line of printable ASCII';
  return reading.reportFault('clientSecretFile', message);
}
