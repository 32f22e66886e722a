import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GenerateResult, generate, type SelfsignedOptions } from 'selfsigned';

/** When a certificate is valid. */
interface Validity {
  readonly from: Date;
  readonly until: Date;
}

/** A server's key and certificate, and the authority that a client must trust. */
export type Certificate = Awaited<ReturnType<typeof issueCertificate>>;

const day = 86_400_000;
const today: Validity = { from: new Date(Date.now() - day), until: new Date(Date.now() + day) };

/**
 * Makes a private key and a self-signed certificate, in one PEM text.
 *
 * @param host the host that the certificate is for
 */
export async function selfSignedCertificate(host: string, validity = today): Promise<string> {
  const { private: key, cert } = await certify([host], { validity });
  return key + cert;
}

/** Makes an unknown authority that certifies a server with these names. */
export async function issueCertificate(...names: string[]) {
  const authority = await certify(['authority.example'], { isAuthority: true });
  const ca = { key: authority.private, cert: authority.cert };
  const another = async (others: readonly string[], validity?: Validity) => {
    const { private: key, cert } = await certify(others, { ca, ...(validity && { validity }) });
    return { key, cert };
  };
  const server = await another(names);
  const directory = await mkdtemp(join(tmpdir(), 'login-relay-'));
  const authorityFile = join(directory, 'authority.pem');
  await writeFile(authorityFile, authority.cert);
  return {
    ...server,
    /** The authority, as PEM. */
    authority: ca.cert,
    /** A PEM file for `NODE_EXTRA_CA_CERTS`. */
    authorityFile,
    /** Another certificate by the same authority. */
    another,
    remove: () => rm(directory, { recursive: true }),
  };
}

function certify(
  names: readonly string[],
  options: { validity?: Validity; isAuthority?: boolean } & Pick<SelfsignedOptions, 'ca'>,
): Promise<GenerateResult> {
  const { validity = today, isAuthority = false, ca } = options;
  return generate([{ name: 'commonName', value: names[0] ?? '' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: validity.from,
    notAfterDate: validity.until,
    ...(ca && { ca }),
    extensions: [
      { name: 'basicConstraints', cA: isAuthority, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: isAuthority },
      { name: 'subjectAltName', altNames: names.map((value) => ({ type: 2, value })) },
    ],
  });
}

/** A certificate and its key in files, for a relay. */
export type CertificateFiles = Awaited<ReturnType<typeof certificateFiles>>;

/** Issues a certificate for this name, and writes it to files in a new folder. */
export async function certificateFiles(name: string) {
  const folder = await mkdtemp(join(tmpdir(), 'login-relay-'));
  const cert = join(folder, 'cert.pem');
  const key = join(folder, 'key.pem');

  async function put(certificate: Certificate): Promise<string> {
    // Rename the file, as renewal tools do, so that readers get the old or the new file, and never a part.
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
    /** The certificate authority that a client must trust, as PEM. */
    authority,
    /**
     * Replaces the certificate by another certificate for the same name. Returns the authority to trust from then on.
     */
    renew: async () => await put(await issueCertificate(name)),
    remove: () => rm(folder, { recursive: true }),
  };
}
