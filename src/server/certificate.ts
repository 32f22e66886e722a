import type { Secret } from '../secret.ts';

/** What the relay needs to end TLS itself. */
export interface Certificate {
  /** The certificate and those between it and its authority, as PEM. */
  readonly chain: string;
  readonly key: Secret;
  /** Where both came from. */
  readonly files: readonly string[];
}
