import type { SecureContextOptions } from 'node:tls';
import type { Certificate } from '../config/certificate.ts';

/** How TLS is spoken with this certificate. @see RFC 9325 §3.1.1 for the versions */
export function tlsOptions({ chain, key }: Certificate): SecureContextOptions {
  return { cert: chain, key: key.reveal(), minVersion: 'TLSv1.2' };
}
