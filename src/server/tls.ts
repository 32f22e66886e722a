import type { SecureContextOptions } from 'node:tls';
import type { Secret } from '../sealing/secret.ts';

// The first three belong to TLS 1.3. Without them, Node.js would disable it.
const cipherSuites = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
];

/**
 * TLS 1.2 or later, and only cipher suites with forward secrecy and authenticated encryption.
 *
 * @see RFC 9325 §3.1.1 and §4.2
 */
export function tlsOptions({ chain, key }: Certificate): SecureContextOptions {
  return {
    cert: chain,
    key: key.reveal(),
    minVersion: 'TLSv1.2',
    ciphers: cipherSuites.join(':'),
  };
}

/** A certificate with its chain and key, and the files that they come from. */
export interface Certificate {
  readonly chain: string;
  readonly key: Secret;
  readonly files: readonly string[];
}
