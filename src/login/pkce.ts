import { createHmac, hash } from 'node:crypto';

const purpose = 'login-relay code_verifier';

/**
 * The code verifier of a login. It is derived from what the browser keeps and what the state
 * carries, so that nobody has to store it.
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
