import { parseAddress } from '../memory/redis-client.ts';
import { Secret, UnseenSecret } from '../sealing/secret.ts';
import { isLoopback } from '../urls.ts';
import { credentialPath, readNamedFile } from './named-file.ts';
import type { FileText } from './reading.ts';
import type { RelayReading } from './readings.ts';
import { isVisible, secretVariables, splitPassword } from './secret-variables.ts';
import { options } from './settings/settings.ts';
import { whyUnfilled } from './unfilled-values.ts';

export function readSharedMemory(reading: RelayReading) {
  const { values, describe, reportFault, warnOfUnused } = reading;
  const address = values.sharedMemory;
  if (address === undefined) {
    const dependent = ['sharedMemoryPasswordFile', 'sharedMemoryCa', 'sessionCheck'] as const;
    warnOfUnused(dependent, ` without ${describe('sharedMemory')}`);
    return undefined;
  }
  const { tls, nodes = [] } = parseAddress(address) ?? {};
  const isNear = nodes.every(({ host }) => isLoopback(new URL(`http://${host.includes(':') ? `[${host}]` : host}`)));
  if (!tls && !isNear && !values.insecureHttp) {
    reportFault(
      'sharedMemory',
      `must use TLS (rediss:) beyond this machine, unless ${describe('insecureHttp')} allows it`,
    );
  }
  if (values.sharedMemoryCa && !tls) reportFault('sharedMemoryCa', 'needs an address with TLS (rediss:)');
  const password = readPassword(reading);
  const ca = readNamedFile(reading, 'sharedMemoryCa', values.sharedMemoryCa, 'public');
  // If only the relay may read one of the files, this command cannot ask the server anything.
  if (typeof password === 'object' || typeof ca === 'object') {
    return { address, password: new UnseenSecret(), ca: undefined };
  }
  return { address, password: password ? new Secret(password) : undefined, ca };
}

/** The password from the file, the variable or the address in its variable, else from the systemd credential. */
function readPassword(reading: RelayReading): FileText {
  const { values, environment, sourceOf, describe, reportVariableFault, warnOfVariable } = reading;
  const { variable } = options.sharedMemory;
  const inAddress = sourceOf('sharedMemory') === 'environment' ? splitPassword(environment[variable] ?? '') : undefined;
  const given = [
    { name: secretVariables.memoryPassword, password: environment[secretVariables.memoryPassword] || undefined },
    { name: variable, password: inAddress?.password },
  ].filter(({ password }) => password !== undefined);
  const file = values.sharedMemoryPasswordFile;
  const [first, second] = given;
  if (first === undefined) {
    const path = file ?? credentialPath(reading, 'shared-memory-password');
    return readNamedFile(reading, 'sharedMemoryPasswordFile', path);
  }
  const other = file === undefined ? second && `the password in ${second.name}` : describe('sharedMemoryPasswordFile');
  if (other !== undefined) return reportVariableFault(first.name, `and ${other} are both given: give only one`);
  const unfilled = whyUnfilled(first.password ?? '', true);
  if (unfilled !== undefined) return reportVariableFault(first.name, `holds a password that ${unfilled}`);
  warnOfVariable(first.name, `holds a password, and ${isVisible}`);
  return first.password;
}
