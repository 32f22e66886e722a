import type { MachineCredentials } from '../front-ends/machine-credentials.ts';
import { readPublicKeys } from '../oauth/public-keys.ts';
import { readSecrets } from './key-file.ts';
import { isUnseen, type Reading } from './map-reading.ts';
import { credentialPath, readNamedFile } from './named-file.ts';

/** Names the systemd credential with the secret of a machine. */
const machineSecretCredential = (name: string) => `${name}-machine-secret`;

/** Reads the secret or the public key of a machine; undefined for other front ends, and after a fault. */
export function readMachineCredentials(reading: Reading<'front-ends'>): MachineCredentials | undefined {
  const { values, isGiven, reportFault, describe } = reading;
  if (values.kind !== 'machine') return undefined;
  const hasKey = isGiven('publicKeyFile');
  if (hasKey && isGiven('secretFile')) {
    return reportFault('publicKeyFile', `and ${describe('secretFile')} are both given: give only one`);
  }
  return hasKey ? readMachineKeys(reading) : readMachineSecrets(reading);
}

/** Reads the secrets of a machine from the named file, else from the systemd credential. */
function readMachineSecrets(reading: Reading<'front-ends'>): MachineCredentials | undefined {
  const { map, values, isGiven, reportUnreadable, environment, reportFault } = reading;
  const credential = machineSecretCredential(map.name ?? '');
  const path = isGiven('secretFile') ? values.secretFile : credentialPath(reading, credential);
  if (path !== undefined || isGiven('secretFile')) {
    const secrets = readSecrets(reading, path, 'secretFile');
    return secrets && { secrets, keys: [] };
  }
  const asFault = 'is required with kind machine, or public-key-file';
  if (environment['CREDENTIALS_DIRECTORY']) {
    return reportFault('secretFile', `${asFault}, or the systemd credential ${credential}, which is missing or empty`);
  }
  const fix = `give it, or public-key-file, unless the service has the systemd credential ${credential}`;
  const note = reportUnreadable('secretFile', 'is not given', fix, asFault);
  return note && { secrets: [], keys: [] };
}

/** Reads the public keys of a machine. There are none if only the relay can read the file; undefined after a fault. */
function readMachineKeys(reading: Reading<'front-ends'>): MachineCredentials | undefined {
  const text = readNamedFile(reading, 'publicKeyFile', reading.values.publicKeyFile, 'public');
  if (text === undefined) return undefined;
  if (isUnseen(text)) return { secrets: [], keys: [] };
  const keysOrFault = readPublicKeys(text);
  if (typeof keysOrFault === 'string') return reading.reportFault('publicKeyFile', keysOrFault);
  return { secrets: [], keys: keysOrFault };
}
