import { randomBytes } from 'node:crypto';

/** A kind of client secret, and how to make one. */
export interface SecretKind {
  readonly name: string;
  make(): string;
}

/** Typical secrets. HTTP Basic authentication treats each in a different way. */
export const secretKinds: readonly SecretKind[] = [
  { name: 'a secret from openssl rand -base64 24', make: awkwardSecret },
  {
    name: 'a secret with a space and a colon',
    make: () => `${randomBytes(6).toString('hex')} and: ${randomBytes(6).toString('hex')}`,
  },
];

/** 24 random bytes in base64, with both characters that have a meaning in a form. */
function awkwardSecret(): string {
  for (;;) {
    const secret = randomBytes(24).toString('base64');
    if (secret.includes('+') && secret.includes('/')) return secret;
  }
}
