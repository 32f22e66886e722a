import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** When a certificate is valid, as openssl writes times: `20200101000000Z`. */
interface Validity {
  readonly from: string;
  readonly until: string;
}

/** Valid as long as anyone runs these tests. */
const always: Validity = { from: '20200101000000Z', until: '20991231235959Z' };

const configuration = `
[ca]
default_ca = here
[here]
database = index
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = names
[any]
commonName = supplied
[names]
subjectAltName = $ENV::NAMES
`;

/**
 * Makes a private key and a certificate that it has signed itself, in one PEM text.
 *
 * @param host the host that the certificate is for
 */
export async function selfSignedCertificate(host: string, validity = always): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'login-relay-certificate-'));
  const openssl = (...args: string[]) =>
    promisify(execFile)('openssl', args, {
      cwd: directory,
      env: { ...process.env, NAMES: `DNS:${host}` },
    });
  try {
    await writeFile(join(directory, 'openssl.cnf'), configuration);
    await writeFile(join(directory, 'index'), '');
    await openssl(
      ...['req', '-new', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
      ...['-subj', `/CN=${host}`, '-keyout', 'key', '-out', 'request'],
    );
    await openssl(
      ...['ca', '-config', 'openssl.cnf', '-batch', '-selfsign', '-keyfile', 'key'],
      ...['-startdate', validity.from, '-enddate', validity.until, '-outdir', '.', '-notext'],
      ...['-in', 'request', '-out', 'certificate'],
    );
    const read = (name: string) => readFile(join(directory, name), 'utf8');
    return `${await read('key')}${await read('certificate')}`;
  } finally {
    await rm(directory, { recursive: true });
  }
}
