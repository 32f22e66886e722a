import { readFile } from 'node:fs/promises';
import { certificateFiles } from '../system/certificate.ts';
import { MemoryServer } from '../system/memory-server.ts';
import { keyFile } from '../system/secret-file.ts';
import type { Flags } from './relay-process.ts';

let certificate: ReturnType<typeof certificateFiles> | undefined;

/**
 * Adds every option that a relay sets neither by a flag nor in its file.
 *
 * @returns also what ends the server of its memory
 */
export async function withEveryOption(given: Flags): Promise<{ flags: Flags; end(): void }> {
  const server = await MemoryServer.start();
  certificate ??= certificateFiles('relay.example');
  const { cert, key } = await certificate;
  const all = {
    'shared-memory': server.address,
    'key-file': await keyFile(),
    'tls-cert': cert,
    'tls-key': key,
    'metrics-port': '0',
    'log-format': 'json',
  };
  const text = given['config'] === undefined ? '' : await readFile(given['config'], 'utf8');
  const added = Object.entries(all).filter(([name]) => !new RegExp(`^${name}:`, 'm').test(text));
  const flags: Flags = { ...Object.fromEntries(added), ...given };
  // Relays without keys share nothing.
  if (flags['key-file'] === undefined && added.some(([name]) => name === 'key-file')) {
    flags['shared-memory'] = undefined;
  }
  return { flags, end: () => void server.stop() };
}
