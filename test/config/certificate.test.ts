import { createPrivateKey } from 'node:crypto';
import { expect } from 'chai';
import type { TextFile } from '../../src/text-files.ts';
import { issueCertificate, selfSignedCertificate } from '../harness/system/certificate.ts';
import { faults, minimal, readFileConfig, read as readGiven } from './support/read.ts';

const day = 86_400_000;

describe('the relay’s own certificate', () => {
  const files: Record<string, TextFile> = {};
  let key = '';
  before(async () => {
    const certificate = await issueCertificate('relay.example');
    await certificate.remove();
    key = certificate.key;
    put('cert.pem', certificate.cert);
    put('key.pem', key);
  });

  function put(path: string, text: string, readableByOthers = false): void {
    files[path] = { text, readableByOthers };
  }

  const given = (environment: Record<string, string>) => ({
    environment: { ...minimal, REFRESH_TOKENS: 'off', ...environment },
    files,
  });
  const read = (environment: Record<string, string>) => readGiven(given(environment));
  const faultsOf = (environment: Record<string, string>) => faults(given(environment));

  const both = { TLS_CERT: 'cert.pem', TLS_KEY: 'key.pem', BASE_URL: 'https://relay.example' };

  it('is read with its key, which is masked when printed', () => {
    const { config, warnings } = read(both);
    expect(config.certificate?.key.reveal()).to.equal(key.trimEnd());
    expect(JSON.stringify(config)).to.not.contain('PRIVATE KEY');
    expect(config.certificate?.files).to.deep.equal(['cert.pem', 'key.pem']);
    expect(warnings).to.deep.equal([]);
  });

  it('makes the default base URL https', () => {
    const { config } = read({ ...both, BASE_URL: '' });
    expect(config.callbackUri).to.equal('https://localhost:8000/auth/provider/callback');
  });

  it('is refused with a base URL on http', () => {
    expect(faultsOf({ ...both, BASE_URL: 'http://localhost' })).to.deep.equal([
      '--base-url (BASE_URL) "http://localhost" must start with https:// with --tls-cert (TLS_CERT)',
    ]);
  });

  it('is refused without its key, and the key without it', () => {
    expect(faultsOf({ TLS_CERT: 'cert.pem' })).to.deep.equal([
      '--tls-key (TLS_KEY) is required with --tls-cert (TLS_CERT)',
    ]);
    expect(faultsOf({ TLS_KEY: 'key.pem' })).to.deep.equal([
      '--tls-cert (TLS_CERT) is required with --tls-key (TLS_KEY)',
    ]);
  });

  it('is reported together with its key if neither can be used', () => {
    put('not-a-cert', 'nonsense');
    expect(faultsOf({ ...both, TLS_CERT: 'not-a-cert', TLS_KEY: 'gone' })).to.deep.equal([
      '--tls-key (TLS_KEY) names a file that does not exist',
      '--tls-cert (TLS_CERT) "not-a-cert" names a file that does not start with a certificate (PEM)',
    ]);
  });

  it('is refused with a key that has a passphrase, is not a key, or belongs to another certificate', async () => {
    const cipher = { cipher: 'aes-256-cbc', passphrase: 'open sesame' };
    const locked = createPrivateKey(key).export({ type: 'pkcs8', format: 'pem', ...cipher });
    put('locked', String(locked));
    put('other', await selfSignedCertificate('relay.example'));
    put('none', 'nonsense');
    for (const [file, reason] of Object.entries({
      locked: 'names a key with a passphrase: store it without one',
      none: 'names a file without a private key (PEM)',
      other: 'names a key that does not belong to the certificate of --tls-cert (TLS_CERT)',
    })) {
      expect(faultsOf({ ...both, TLS_KEY: file })).to.deep.equal([`--tls-key (TLS_KEY) ${reason}`]);
    }
  });

  it('causes a warning if it has expired, is not valid yet, or is for another host', async () => {
    const now = Date.now();
    const validity = (from: number, until: number) => ({
      from: new Date(now + from * day),
      until: new Date(now + until * day),
    });
    put('old', await selfSignedCertificate('relay.example', validity(-2, -1)));
    put('young', await selfSignedCertificate('relay.example', validity(1, 2)));
    put('another', await selfSignedCertificate('other.example'));
    for (const [file, reason] of Object.entries({
      old: 'has expired',
      young: 'is not valid yet',
      another: 'is not for the host of --base-url (BASE_URL)',
    })) {
      const { warnings } = read({ ...both, TLS_CERT: file, TLS_KEY: file });
      expect(warnings).to.deep.equal([`--tls-cert (TLS_CERT) names a certificate that ${reason}`]);
    }
  });

  it('causes a warning if it lacks a host that people reach through the relay', async () => {
    const both = await issueCertificate('relay.example', 'wiki.example');
    await both.remove();
    const warnings = (upstream: string, cert = files['cert.pem']?.text ?? '', ofCert = key) => {
      const text = `base-url: https://relay.example
key-file: ./key
tls-cert: ./cert.pem
tls-key: ./key.pem
trusted-proxies: [127.0.0.1]
providers: { github: { client-id: a, client-secret: b } }
resources: { wiki: { url: 'https://wiki.example/', browser: true, allow: { users: [ada] }${upstream} } }
`;
      const found = readFileConfig(text, { files: { './cert.pem': { text: cert }, './key.pem': { text: ofCert } } });
      return found.warnings.join();
    };
    const upstream = ', upstream: http://127.0.0.1:9000/';
    expect(warnings(upstream)).to.match(
      /tls-cert.* names a certificate that is not for wiki\.example, the host of resources\.wiki: it is for relay\.example$/,
    );
    expect(warnings(upstream, both.cert, both.key)).not.to.contain('certificate');
    // In front of a resource without upstream is a proxy with a certificate of its own.
    expect(warnings('')).not.to.contain('certificate');
  });

  it('causes a warning if every user can read the key', () => {
    put('open', key, true);
    expect(read({ ...both, TLS_KEY: 'open' }).warnings).to.deep.equal([
      '--tls-key (TLS_KEY) names a file that every user can read: chmod o-r it',
    ]);
  });
});
