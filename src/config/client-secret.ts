import * as v from 'valibot';
import { Secret } from '../secret.ts';
import type { Reading } from './reading.ts';
import { visibleCharacters } from './schemas.ts';
import { isMissingCredential, readSecretFile } from './secret-file.ts';

const noCredential =
  'is required: the systemd credential provider-client-secret is missing or empty. ' +
  'Put the client secret into the file that the unit names, such as /etc/login-relay/client-secret';
const noNamedCredential = (name: string): string =>
  `is required, or the systemd credential ${name}, which is missing or empty`;

/** Stands for a client secret that this command cannot read. */
export const unseenSecret = new Secret('unseen');

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
 * @param entry the name of the registration in a file; undefined: flags and variables describe it
 * @returns the secret, or undefined after reporting why there is none
 */
export function readClientSecret(reading: Reading, entry: string | undefined): Secret | undefined {
  const credentialName = clientSecretCredential(entry);
  const { values, environment, readFile, sourceOf, describe, fault, warn, unseen } = reading;
  const direct = sourceOf('clientSecret');
  const file = sourceOf('clientSecretFile');
  if (direct !== undefined && file !== undefined) {
    fault('clientSecret', `and ${describe('clientSecretFile')} are both given: give only one`);
    return undefined;
  }
  if (direct !== undefined) {
    if (direct === 'flag') {
      warn('clientSecret', 'is in the shell history; a secret file is safer');
    }
    return asSecret('clientSecret', values.clientSecret, warn);
  }

  const directory = environment['CREDENTIALS_DIRECTORY'];
  const path =
    file === undefined ? directory && `${directory}/${credentialName}` : values.clientSecretFile;
  if (file === undefined && !path && entry !== undefined && unseen !== undefined) {
    const where = `unless the service has the systemd credential ${credentialName}`;
    unseen('clientSecretFile', 'is not given', `give it, ${where}`);
    return unseenSecret;
  }
  if (file === undefined && !path) {
    fault('clientSecretFile', `is required, or ${describe('clientSecret')}`);
    return undefined;
  }
  if (!path) return undefined;
  if (file === undefined && isMissingCredential(path, readFile)) {
    fault(
      'clientSecretFile',
      entry === undefined ? noCredential : noNamedCredential(credentialName),
    );
    return undefined;
  }
  const text = readSecretFile(reading, 'clientSecretFile', path);
  if (text === undefined) return unseen && unseenSecret;
  if (v.is(visibleCharacters, text)) return asSecret('clientSecretFile', text, warn);
  fault('clientSecretFile', 'names a file whose content is not one line of printable ASCII');
  return undefined;
}

function asSecret(
  name: 'clientSecret' | 'clientSecretFile',
  secret: string | undefined,
  warn: Reading['warn'],
): Secret | undefined {
  if (secret === undefined) return undefined;
  if (secret.trim() !== secret) warn(name, 'holds a secret with a space at its start or end');
  return new Secret(secret);
}
