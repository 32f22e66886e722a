import { parseAddress } from '../memory/redis-client.ts';
import { Secret, UnseenSecret } from '../sealing/secret.ts';
import { isLoopback } from '../urls.ts';
import type { RelayReading } from './readings.ts';
import { credentialPath, readNamedFile } from './secrets.ts';

/** Reads how to reach the memory that relays share. */
export function readSharedMemory(reading: RelayReading) {
  const { values, describe, fault, warnOfUnused } = reading;
  const address = values.sharedMemory;
  if (address === undefined) {
    const dependent = ['sharedMemoryPasswordFile', 'sharedMemoryCa', 'sessionCheck'] as const;
    warnOfUnused(dependent, ` without ${describe('sharedMemory')}`);
    return undefined;
  }
  const { tls, nodes = [] } = parseAddress(address) ?? {};
  const isNear = nodes.every(({ host }) => isLoopback(new URL(`http://${host.includes(':') ? `[${host}]` : host}`)));
  if (!tls && !isNear && !values.insecureHttp) {
    fault('sharedMemory', `must use TLS (rediss:) beyond this machine, unless ${describe('insecureHttp')} allows it`);
  }
  if (values.sharedMemoryCa && !tls) fault('sharedMemoryCa', 'needs an address with TLS (rediss:)');
  const passwordFile = values.sharedMemoryPasswordFile ?? credentialPath(reading, 'shared-memory-password');
  const password = readNamedFile(reading, 'sharedMemoryPasswordFile', passwordFile);
  const ca = readNamedFile(reading, 'sharedMemoryCa', values.sharedMemoryCa, 'public');
  // Only the relay may read one of the files: with the rest alone, nothing can be asked of the server.
  if (typeof password === 'object' || typeof ca === 'object') {
    return { address, password: new UnseenSecret(), ca: undefined };
  }
  return { address, password: password ? new Secret(password) : undefined, ca };
}
