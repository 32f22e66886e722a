import type { Secret } from '../secret.ts';

/** The certificate and key for serving https. */
export interface Certificate {
  /** The certificate and its intermediates, as PEM. */
  readonly chain: string;
  readonly key: Secret;
  /** The files that both were read from. */
  readonly files: readonly string[];
}
