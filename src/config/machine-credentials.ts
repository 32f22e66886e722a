import type { MachineCredentials } from '../front-ends/machine.ts';
import { readPublicKeys } from '../oauth/public-keys.ts';
import { readSecrets } from './key-file.ts';
import { credentialPath, readNamedFile } from './named-file.ts';
import type { Reading } from './reading.ts';

const machineSecretCredential = (name: string) => `${name}-machine-secret`;

/** Reads the credentials of a machine. Undefined for other front ends, and after a fault. */
export function readMachineCredentials(reading: Reading<'front-ends'>): MachineCredentials | undefined {
  const { values, sourceOf, reportFault, describe } = reading;
  if (values.kind !== 'machine') return undefined;
  const hasKey = sourceOf('publicKeyFile') !== undefined;
  if (hasKey && sourceOf('secretFile') !== undefined) {
    return reportFault('publicKeyFile', `and ${describe('secretFile')} are both given: give only one`);
  }
  return hasKey ? readKeys(reading) : readMachineSecrets(reading);
}

function readMachineSecrets(reading: Reading<'front-ends'>): MachineCredentials | undefined {
  const { map, values, sourceOf, reportUnreadable, environment, reportFault } = reading;
  const credential = machineSecretCredential(map.name ?? '');
  const path = values.secretFile ?? (sourceOf('secretFile') ? undefined : credentialPath(reading, credential));
  if (path !== undefined) {
    const secrets = readSecrets(reading, path, 'secretFile');
    return secrets && { secrets, keys: [] };
  }
  if (sourceOf('secretFile') !== undefined) return undefined;
  const asFault = 'is required with kind machine, or public-key-file';
  if (environment['CREDENTIALS_DIRECTORY']) {
    return reportFault('secretFile', `${asFault}, or the systemd credential ${credential}, which is missing or empty`);
  }
  const fix = `give it, or public-key-file, unless the service has the systemd credential ${credential}`;
  const note = reportUnreadable('secretFile', 'is not given', fix, asFault);
  return note && { secrets: [], keys: [] };
}

function readKeys(reading: Reading<'front-ends'>): MachineCredentials | undefined {
  const text = readNamedFile(reading, 'publicKeyFile', reading.values.publicKeyFile, 'public');
  if (text === undefined) return undefined;
  // Only the service may read the file, so its content cannot be checked here.
  if (typeof text === 'object') return { secrets: [], keys: [] };
  const keys = readPublicKeys(text);
  return typeof keys === 'string' ? reading.reportFault('publicKeyFile', keys) : { secrets: [], keys };
}
