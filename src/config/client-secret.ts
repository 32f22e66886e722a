import * as v from 'valibot';
import { Secret } from '../secret.ts';
import { isMissingCredential, readSecretFile } from './files.ts';
import type { Reading } from './reading.ts';
import { visibleCharacters } from './schemas.ts';

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
  const isDirect = sourceOf('clientSecret') !== undefined;
  const isInFile = sourceOf('clientSecretFile') !== undefined;
  if (isDirect && isInFile) {
    return fault(
      'clientSecret',
      `and ${describe('clientSecretFile')} are both given: give only one`,
    );
  }
  if (isInFile) return secretInFile(reading, values.clientSecretFile);
  if (!isDirect) return secretInCredential(reading);
  if (sourceOf('clientSecret') === 'flag') {
    warn('clientSecret', 'is in the shell history; a secret file is safer');
  }
  return asSecret('clientSecret', values.clientSecret, warn);
}

function secretInCredential(reading: Reading): Secret | undefined {
  const { entryName: entry, environment, readFile, describe, fault, warn, unread } = reading;
  const name = clientSecretCredential(entry);
  const directory = environment['CREDENTIALS_DIRECTORY'];
  if (!directory) {
    const asFault = `is required, or ${describe('clientSecret')}`;
    const fix = `give it, unless the service has the systemd credential ${name}`;
    const text = entry
      ? unread('clientSecretFile', 'is not given', fix, asFault)
      : fault('clientSecretFile', asFault);
    return asSecret('clientSecretFile', text, warn);
  }
  const path = `${directory}/${name}`;
  if (isMissingCredential(path, readFile)) {
    return fault('clientSecretFile', entry === undefined ? noCredential : noNamedCredential(name));
  }
  return secretInFile(reading, path);
}

/** @param path undefined: it has a fault, which was reported */
function secretInFile(reading: Reading, path: string | undefined): Secret | undefined {
  const { fault, warn } = reading;
  if (path === undefined) return undefined;
  const text = readSecretFile(reading, 'clientSecretFile', path);
  if (text === undefined) return undefined;
  if (v.is(visibleCharacters, text)) return asSecret('clientSecretFile', text, warn);
  return fault('clientSecretFile', 'names a file whose content is not one line of printable ASCII');
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
