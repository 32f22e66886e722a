import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A server's key and certificate, and the authority that a client has to trust for it. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
  /** A PEM file, as `NODE_EXTRA_CA_CERTS` takes it. */
  readonly authorityFile: string;
  remove(): Promise<void>;
}

/** Makes an authority that nobody knows, and has it certify a server of these names. */
export async function issueCertificate(...names: string[]): Promise<Certificate> {
  const directory = await mkdtemp(join(tmpdir(), 'login-relay-'));
  const file = (name: string) => join(directory, name);
  const alternatives = names.map((name) => `DNS:${name}`).join(',');
  await openssl('authority', [
    ...['-keyout', file('authority.key'), '-out', file('authority.pem')],
    ...['-addext', 'keyUsage=critical,keyCertSign'],
  ]);
  await openssl(names[0] ?? '', [
    ...['-keyout', file('server.key'), '-out', file('server.pem')],
    ...['-CA', file('authority.pem'), '-CAkey', file('authority.key')],
    ...['-addext', 'basicConstraints=critical,CA:FALSE'],
    ...['-addext', `subjectAltName=${alternatives}`],
  ]);
  return {
    key: await readFile(file('server.key'), 'utf8'),
    cert: await readFile(file('server.pem'), 'utf8'),
    authorityFile: file('authority.pem'),
    remove: () => rm(directory, { recursive: true }),
  };
}

async function openssl(name: string, more: string[]): Promise<void> {
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-nodes', '-days', '1', '-subj', `/CN=${name}`],
    ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
    ...more,
  ]);
}
