import * as v from 'valibot';
import { Secret, UnseenSecret } from '../sealing/secret.ts';
import { type FileText, isUnseen, type Reading } from './map-reading.ts';
import { credentialPath, readNamedFile } from './named-file.ts';
import { visibleCharacters } from './schemas.ts';

/** The fault of the packaged service, which has only one registration. It names the credential and its file. */
const noCredentialOfService =
  'is required: the systemd credential provider-client-secret is missing or empty. ' +
  'Put the client secret into the file that the unit names, such as /etc/login-relay/client-secret';

/**
 * Returns the name of the systemd credential with the client secret of a registration.
 *
 * @param entry the name of its entry of `providers`; undefined if flags and variables describe the only registration
 */
export function clientSecretCredential(entry: string | undefined): string {
  return `${entry ?? 'provider'}-client-secret`;
}

/**
 * Reads the client secret: the value of its option, else the named file, else the systemd credential.
 *
 * @returns undefined after a fault, and an `UnseenSecret` if only the relay itself can read the file
 */
export function readClientSecret(reading: Reading<'providers'>): Secret | undefined {
  const { values, sourceOf, isGiven, describe, reportFault, warn } = reading;
  const isItselfGiven = isGiven('clientSecret');
  const name = isItselfGiven ? 'clientSecret' : 'clientSecretFile';
  if (isItselfGiven && isGiven('clientSecretFile')) {
    return reportFault(name, `and ${describe('clientSecretFile')} are both given: give only one`);
  }
  if (sourceOf('clientSecret') === 'flag') warn(name, 'is in the shell history; a secret file is safer');
  const secret = isItselfGiven ? values.clientSecret : readFromFileOrCredential(reading);
  if (secret === undefined) return undefined;
  if (isUnseen(secret)) return new UnseenSecret();
  if (secret.trim() !== secret) warn(name, 'holds a secret with a space at its start or end');
  return new Secret(secret);
}

/** Reads the client secret from the named file, else from the systemd credential. Reports that both are missing. */
function readFromFileOrCredential(reading: Reading<'providers'>): FileText {
  const { values, isGiven, environment, describe, reportFault, reportUnreadable } = reading;
  if (isGiven('clientSecretFile')) return readFromFile(reading, values.clientSecretFile);
  const entry = reading.map.name;
  const credential = clientSecretCredential(entry);
  const path = credentialPath(reading, credential);
  if (path !== undefined) return readFromFile(reading, path);
  if (environment['CREDENTIALS_DIRECTORY']) {
    const noCredential = `is required, or the systemd credential ${credential}, which is missing or empty`;
    return reportFault('clientSecretFile', entry ? noCredential : noCredentialOfService);
  }
  const asFault = `is required, or ${describe('clientSecret')}`;
  if (!entry) return reportFault('clientSecretFile', asFault);
  // An operator who runs `check` may not see the credentials of the service.
  const fix = `give it, unless the service has the systemd credential ${credential}`;
  return reportUnreadable('clientSecretFile', 'is not given', fix, asFault);
}

/**
 * Reads a client secret from a file: one line that a request can carry.
 *
 * @returns undefined after a fault, and a note if only the relay itself can read the file
 */
function readFromFile(reading: Reading<'providers'>, path: string | undefined): FileText {
  const text = readNamedFile(reading, 'clientSecretFile', path);
  if (text === undefined || isUnseen(text) || v.is(visibleCharacters, text)) return text;
  return reading.reportFault('clientSecretFile', 'names a file whose content is not one line of printable ASCII');
}
