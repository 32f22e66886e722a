import { type ConnectionSettings, parseAddress } from '../memory/connection.ts';
import { Secret } from '../secret.ts';
import { isLoopback } from '../urls.ts';
import type { Reading } from './reading.ts';
import { isMissingCredential, readSecretFile } from './secrets.ts';

const credential = 'shared-memory-password';

/**
 * Reads how to reach the memory that relays share.
 *
 * @param hasKeyFile whether the keys come from a file
 * @returns undefined if there is none
 */
export function readSharedMemory(
  reading: Reading,
  hasKeyFile: boolean,
): ConnectionSettings | undefined {
  const { values, describe, fault, warnOfUnused } = reading;
  const address = values.sharedMemory;
  if (address === undefined) {
    const dependent = ['sharedMemoryPasswordFile', 'sharedMemoryCa', 'sessionCheck'] as const;
    warnOfUnused(dependent, ` without ${describe('sharedMemory')}`);
    return undefined;
  }
  if (!hasKeyFile) {
    fault('keyFile', `is required with ${describe('sharedMemory')}: relays read what others leave`);
  }
  const { tls, nodes = [] } = parseAddress(address) ?? {};
  const isNear = nodes.every(({ host }) => isLoopback(new URL(`http://${hostInUrl(host)}`)));
  if (!tls && !isNear && !values.insecureHttp) {
    fault(
      'sharedMemory',
      `must use TLS (rediss:) beyond this machine, unless ${describe('insecureHttp')} allows it`,
    );
  }
  const { sharedMemoryCa: path } = values;
  if (path !== undefined && !tls) fault('sharedMemoryCa', 'needs an address with TLS (rediss:)');
  // A certificate is public: its file may be readable by everyone.
  const asPublic = { ...reading, warn: () => undefined };
  const ca = path === undefined ? undefined : readSecretFile(asPublic, 'sharedMemoryCa', path);
  return { address, password: passwordOf(reading), ca };
}

function passwordOf(reading: Reading): Secret | undefined {
  const directory = reading.environment['CREDENTIALS_DIRECTORY'];
  const inCredential = `${directory}/${credential}`;
  const isThere = directory && !isMissingCredential(inCredential, reading.readFile);
  const path = reading.values.sharedMemoryPasswordFile ?? (isThere ? inCredential : undefined);
  const text = path && readSecretFile(reading, 'sharedMemoryPasswordFile', path);
  return text ? new Secret(text) : undefined;
}

function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
