import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { Secret } from '../sealing/secret.ts';
import type { Certificate } from '../server/tls.ts';
import { isUnseen } from './map-reading.ts';
import { readNamedFile } from './named-file.ts';
import type { Readings, RelayReading } from './readings.ts';

/** Reads the relay's own certificate and its private key; undefined if there are none, and after a fault. */
export function readCertificate(readings: Pick<Readings, 'relay' | 'resources'>): Certificate | undefined {
  const { relay: reading, resources } = readings;
  const { describe, reportFault } = reading;
  const { tlsCert, tlsKey } = reading.values;
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined) return reportFault('tlsCert', `is required with ${describe('tlsKey')}`);
  if (tlsKey === undefined) return reportFault('tlsKey', `is required with ${describe('tlsCert')}`);
  const chain = readNamedFile(reading, 'tlsCert', tlsCert, 'public');
  const key = readNamedFile(reading, 'tlsKey', tlsKey);
  if (isUnseen(chain) || isUnseen(key)) return undefined;
  // Both files are parsed first, so that the faults of both are reported.
  const certificate = chain === undefined ? undefined : readFirstCertificate(chain, reading);
  const privateKey = key === undefined ? undefined : readPrivateKey(key, reading);
  if (!chain || !key || !certificate || !privateKey) return undefined;
  if (!certificate.checkPrivateKey(privateKey)) {
    return reportFault('tlsKey', `names a key that does not belong to the certificate of ${describe('tlsCert')}`);
  }
  if (undefinedIfThrown(() => createSecureContext({ cert: chain, key })) === undefined) {
    return reportFault('tlsCert', 'names a certificate that TLS refuses, for example because its key is too short');
  }
  warnOfWrongDateOrHost(certificate, reading);
  warnOfMissingHosts(certificate, reading, resources);
  return { chain, key: new Secret(key), files: [tlsCert, tlsKey] };
}

/** Reads the relay's own certificate, the first of its chain; undefined after a fault. */
function readFirstCertificate(chain: string, { reportFault }: RelayReading): X509Certificate | undefined {
  return parseCertificate(chain) ?? reportFault('tlsCert', 'names a file that does not start with a certificate (PEM)');
}

/** Parses the first certificate in a text (PEM); undefined if there is none. */
export function parseCertificate(text: string): X509Certificate | undefined {
  return undefinedIfThrown(() => new X509Certificate(text));
}

/** Reads a private key without a passphrase; undefined after a fault. */
function readPrivateKey(text: string, { reportFault }: RelayReading): KeyObject | undefined {
  const privateKey = undefinedIfThrown(() => createPrivateKey(text));
  if (privateKey !== undefined) return privateKey;
  const isEncrypted = text.includes('ENCRYPTED');
  return reportFault(
    'tlsKey',
    isEncrypted ? 'names a key with a passphrase: store it without one' : 'names a file without a private key (PEM)',
  );
}

/** Returns the result of a function, or undefined if it throws. */
function undefinedIfThrown<Result>(make: () => Result): Result | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

function warnOfWrongDateOrHost(certificate: X509Certificate, { baseUrl, describe, warn }: RelayReading): void {
  const now = new Date();
  if (certificate.validToDate < now) warn('tlsCert', 'names a certificate that has expired');
  if (certificate.validFromDate > now) warn('tlsCert', 'names a certificate that is not valid yet');
  if (!isForHost(certificate, new URL(baseUrl))) {
    warn('tlsCert', `names a certificate that is not for the host of ${describe('baseUrl')}`);
  }
}

/**
 * Warns if the certificate lacks a host of the resources that requests reach through the relay. In front of any other
 * resource is a proxy with a certificate of its own.
 */
function warnOfMissingHosts(
  certificate: X509Certificate,
  { baseUrl, warn }: RelayReading,
  resources: Readings['resources'],
): void {
  const covered = certificate.subjectAltName?.replaceAll(/(DNS|IP Address):/g, '').slice(0, 300) ?? 'no host';
  for (const { name, values } of resources) {
    const url = values.upstream && URL.parse(values.url ?? '');
    if (!url || url.hostname === new URL(baseUrl).hostname || isForHost(certificate, url)) continue;
    warn(
      'tlsCert',
      `names a certificate that is not for ${url.hostname}, the host of resources.${name}: it is for ${covered}`,
    );
  }
}

function isForHost(certificate: X509Certificate, { hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined;
}
