import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Certificate, issueCertificate } from './certificate.ts';

/** A certificate and its key in files, for a relay. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
  /** The certificate authority that a client must trust, as PEM. */
  readonly authority: string;
  /** Replaces the certificate by another one for the same name. Returns the authority to trust from then on. */
  renew(): Promise<string>;
  remove(): Promise<void>;
}

/** Issues a certificate for this name, and writes it to files in a new folder. */
export async function certificateFiles(name: string): Promise<CertificateFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'login-relay-'));
  const cert = join(folder, 'cert.pem');
  const key = join(folder, 'key.pem');

  async function put(certificate: Certificate): Promise<string> {
    // Rename it, as renewal tools do: readers get the old or the new file, never a part.
    await writeFile(`${key}.new`, certificate.key, { mode: 0o600 });
    await writeFile(`${cert}.new`, certificate.cert);
    await rename(`${key}.new`, key);
    await rename(`${cert}.new`, cert);
    await certificate.remove();
    return certificate.authority;
  }

  const authority = await put(await issueCertificate(name));
  return {
    cert,
    key,
    authority,
    renew: async () => await put(await issueCertificate(name)),
    remove: () => rm(folder, { recursive: true }),
  };
}
