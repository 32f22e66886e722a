import type { Certificate } from '../../server/certificate.ts';
import { httpUrl } from '../../urls.ts';
import { readCertificate } from '../certificate.ts';
import type { Option } from '../option.ts';
import { checked, type Reading } from '../reading.ts';
import * as schemas from '../schemas.ts';

/** The address that the relay listens on, and the address that browsers use. */
export interface Listening {
  readonly port: number;
  readonly host: string;
  /** The relay's public address, without a final slash. */
  readonly baseUrl: string;
  /** Undefined: plain http, behind a proxy that terminates TLS. */
  readonly certificate: Certificate | undefined;
  readonly maxConnections: number;
  /** Whether the relay is ready once `all` providers are known, or `any` of them. */
  readonly readyPolicy: 'all' | 'any';
}

/** The options of {@link Listening}. */
export const listeningOptions = {
  port: {
    flag: '--port',
    argument: '<number>',
    variable: 'PORT',
    group: 'Listening',
    help: 'port to listen on; 0: any free port',
    default: '8000',
    schema: schemas.wholeNumber(0, 65535),
  },
  host: {
    flag: '--host',
    argument: '<host>',
    variable: 'HOST',
    group: 'Listening',
    help: 'address to listen on',
    default: '127.0.0.1',
    schema: schemas.listenHost,
  },
  baseUrl: {
    flag: '--base-url',
    argument: '<url>',
    variable: 'BASE_URL',
    group: 'Listening',
    help: 'public URL of this relay, as browsers and the provider see it',
    otherwise: 'http://localhost:PORT, https with a certificate',
    schema: httpUrl,
  },
  insecureHttp: {
    flag: '--insecure-http',
    variable: 'INSECURE_HTTP',
    group: 'Listening',
    help: 'allow http:// URLs with hosts other than this machine',
    default: 'false',
    schema: schemas.trueOrFalse,
  },
  tlsCert: {
    flag: '--tls-cert',
    argument: '<path>',
    variable: 'TLS_CERT',
    group: 'Listening',
    help: 'TLS certificate with its chain (PEM), to serve https without a proxy; read again when it changes',
    otherwise: 'none (plain http)',
    schema: schemas.filePath,
  },
  tlsKey: {
    flag: '--tls-key',
    argument: '<path>',
    variable: 'TLS_KEY',
    group: 'Listening',
    help: 'private key of the TLS certificate (PEM)',
    otherwise: 'required with a certificate',
    secret: true,
    schema: schemas.filePath,
  },
  maxConnections: {
    flag: '--max-connections',
    argument: '<number>',
    variable: 'MAX_CONNECTIONS',
    group: 'Listening',
    help: 'maximum number of connections; beyond it, a new connection replaces the one that has been idle longest',
    default: '4096',
    schema: schemas.wholeNumber(1, 1_000_000),
  },
  readyPolicy: {
    flag: '--ready-policy',
    argument: '<which>',
    variable: 'READY_POLICY',
    group: 'Listening',
    help: 'how many providers must be known for /readyz to answer 200: any (one is enough) or all',
    default: 'any',
    schema: schemas.oneOf(['any', 'all']),
  },
} as const satisfies Record<string, Option>;

/** The relay's public address, without a final slash. */
export function baseUrlOf({ values }: Reading): string {
  const scheme = values.tlsCert === undefined ? 'http' : 'https';
  // A faulty port is left out: other faults are then found as well.
  const ownAddress = `${scheme}://localhost:${values.port ?? ''}`;
  return (values.baseUrl?.href ?? ownAddress).replace(/\/+$/, '');
}

/** Reads the section. The result gives its values; call it only if no fault was reported. */
export function readListening(reading: Reading): () => Listening {
  const { values, environment, sourceOf, describe, fault } = reading;
  const baseUrl = baseUrlOf(reading);
  const certificate = readCertificate(reading, baseUrl);
  if (environment['CREDENTIALS_DIRECTORY'] && isEmpty(reading)) {
    fault('baseUrl', 'is empty: set it to the public URL of this service');
  }
  if (values.port === 0 && sourceOf('baseUrl') === undefined) {
    fault('baseUrl', 'is required with port 0: its default needs a known port');
  }
  if (values.baseUrl?.href.includes('?')) fault('baseUrl', 'must not have a query');
  if (values.tlsCert !== undefined && values.baseUrl?.protocol === 'http:') {
    fault('baseUrl', `must start with https:// with ${describe('tlsCert')}`);
  }
  return () => ({
    port: checked(values.port),
    host: checked(values.host),
    baseUrl,
    certificate,
    maxConnections: checked(values.maxConnections),
    readyPolicy: checked(values.readyPolicy),
  });
}

function isEmpty({ environment, sourceOf }: Reading): boolean {
  return environment[listeningOptions.baseUrl.variable] === '' && sourceOf('baseUrl') === undefined;
}
