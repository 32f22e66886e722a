import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { Secret } from '../sealing/secret.ts';
import type { Certificate } from '../server/tls.ts';
import { readNamedFile } from './named-file.ts';
import type { RelayReading } from './readings.ts';

/** Reads the relay's own certificate and its key. Undefined if there are none, or after reporting a fault. */
export function readCertificate(reading: RelayReading): Certificate | undefined {
  const { describe, reportFault } = reading;
  const { tlsCert, tlsKey } = reading.values;
  if (tlsCert === undefined || tlsKey === undefined) {
    if (tlsKey !== undefined) reportFault('tlsCert', `is required with ${describe('tlsKey')}`);
    if (tlsCert !== undefined) reportFault('tlsKey', `is required with ${describe('tlsCert')}`);
    return undefined;
  }
  const chain = readNamedFile(reading, 'tlsCert', tlsCert, 'public');
  const key = readNamedFile(reading, 'tlsKey', tlsKey);
  // A key that only the relay may read cannot be checked here.
  if (typeof chain === 'object' || typeof key === 'object') return undefined;
  const certificate =
    chain &&
    (attempt(() => new X509Certificate(chain)) ??
      reportFault('tlsCert', 'names a file that does not start with a certificate (PEM)'));
  const whyNoKey = key?.includes('ENCRYPTED')
    ? 'names a key with a passphrase: store it without one'
    : 'names a file without a private key (PEM)';
  const privateKey = key && (attempt(() => createPrivateKey(key)) ?? reportFault('tlsKey', whyNoKey));
  if (!chain || !key || !certificate || !privateKey) return undefined;
  if (!certificate.checkPrivateKey(privateKey)) {
    return reportFault('tlsKey', `names a key that does not belong to the certificate of ${describe('tlsCert')}`);
  }
  if (attempt(() => createSecureContext({ cert: chain, key })) === undefined) {
    return reportFault('tlsCert', 'names a certificate that TLS refuses, for example because its key is too short');
  }
  warnOfCertificate(certificate, reading);
  return { chain, key: new Secret(key), files: [tlsCert, tlsKey] };
}

function attempt<Result>(make: () => Result): Result | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

function warnOfCertificate(certificate: X509Certificate, { baseUrl, describe, warn }: RelayReading): void {
  const now = new Date();
  if (certificate.validToDate < now) warn('tlsCert', 'names a certificate that has expired');
  if (certificate.validFromDate > now) warn('tlsCert', 'names a certificate that is not valid yet');
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '');
  const covers = isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host);
  if (covers === undefined) {
    warn('tlsCert', `names a certificate that is not for the host of ${describe('baseUrl')}`);
  }
}
