import { parseMemoryAddress } from '../memory/redis-client.ts';
import { Secret, UnseenSecret } from '../sealing/secret.ts';
import { hostInUrl, isLoopback } from '../urls.ts';
import { type FileText, isUnseen } from './map-reading.ts';
import { credentialPath, readNamedFile } from './named-file.ts';
import type { RelayReading } from './readings.ts';
import { secretVariables, splitPassword, visibilityWarning } from './secret-variables.ts';
import { options } from './settings/settings.ts';
import { whySecretUnfilled } from './unfilled-values.ts';

/** Reads the address, password and certificates of the shared memory; undefined if there is none. */
export function readSharedMemory(reading: RelayReading) {
  const { values, describe, reportFault, warnOfUnused } = reading;
  const address = values.sharedMemory;
  if (address === undefined) {
    const dependent = ['sharedMemoryPasswordFile', 'sharedMemoryCa', 'sessionCheck'] as const;
    warnOfUnused(dependent, ` without ${describe('sharedMemory')}`);
    return undefined;
  }
  const { tls, nodes = [] } = parseMemoryAddress(address) ?? {};
  const isOnThisMachine = nodes.every(({ host }) => isLoopback(new URL(`http://${hostInUrl(host)}`)));
  if (!tls && !isOnThisMachine && !values.insecureHttp) {
    reportFault(
      'sharedMemory',
      `must use TLS (rediss:) beyond this machine, unless ${describe('insecureHttp')} allows it`,
    );
  }
  if (values.sharedMemoryCa && !tls) reportFault('sharedMemoryCa', 'needs an address with TLS (rediss:)');
  const password = readPassword(reading);
  const ca = readNamedFile(reading, 'sharedMemoryCa', values.sharedMemoryCa, 'public');
  // Only `check` gets here, as a user who may not read the file. So it does not ask the server anything.
  if (isUnseen(password) || isUnseen(ca)) {
    return { address, password: new UnseenSecret(), ca: undefined };
  }
  return { address, password: password ? new Secret(password) : undefined, ca };
}

/**
 * Reads the password from its variable, from the address in `SHARED_MEMORY`, from its file, or from the systemd
 * credential. Reports two passwords.
 */
function readPassword(reading: RelayReading): FileText {
  const { values, describe, reportVariableFault, warnOfVariable } = reading;
  const file = values.sharedMemoryPasswordFile;
  const [first, second] = passwordsInVariables(reading);
  if (first === undefined) {
    const path = file ?? credentialPath(reading, 'shared-memory-password');
    return readNamedFile(reading, 'sharedMemoryPasswordFile', path);
  }
  const { variable, password } = first;
  const inSecond = second && `the password in ${second.variable}`;
  const other = file === undefined ? inSecond : describe('sharedMemoryPasswordFile');
  if (other !== undefined) return reportVariableFault(variable, `and ${other} are both given: give only one`);
  const whyNot = whySecretUnfilled(password);
  if (whyNot !== undefined) return reportVariableFault(variable, `holds a password that ${whyNot}`);
  warnOfVariable(variable, `holds a password, and ${visibilityWarning}`);
  return password;
}

/** The passwords in the variable for them, and in the address that a variable gives. */
function passwordsInVariables({ environment, sourceOf }: RelayReading) {
  const found: { readonly variable: string; readonly password: string }[] = [];
  const ownPassword = environment[secretVariables.memoryPassword];
  if (ownPassword) found.push({ variable: secretVariables.memoryPassword, password: ownPassword });
  if (sourceOf('sharedMemory') !== 'environment') return found;
  const { variable } = options.sharedMemory;
  const inAddress = splitPassword(environment[variable] ?? '');
  if (inAddress !== undefined) found.push({ variable, password: inAddress.password });
  return found;
}
