import { createHmac, hash } from 'node:crypto';

const purpose = 'login-relay code_verifier';

/**
 * Derives the code verifier of a login from its cookie and its id, so that the relay stores nothing.
 *
 * @returns 43 characters
 * @see RFC 7636 §4.1
 */
export function codeVerifier(browserSecret: Buffer, transactionId: Buffer): string {
  return createHmac('sha256', browserSecret)
    .update(purpose)
    .update(transactionId)
    .digest('base64url');
}

/** The S256 code challenge to a verifier. @see RFC 7636 §4.2 */
export function codeChallenge(verifier: string): string {
  return hash('sha256', verifier, 'base64url');
}
