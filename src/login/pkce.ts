import { hash } from 'node:crypto';

/** The bytes of the secret in the cookie of the browser, from which the parts of a login are derived. */
export const browserSecretLength = 32;
const idLength = 16;
const verifierLength = 32;

/**
 * Derives the id of a login, its code verifier and its nonce from the secret in the cookie of the browser, so that the
 * relay stores nothing. They are parts of one SHA-512, so that none reveals another.
 *
 * @returns an id of 16 bytes, a verifier of 43 characters, and a nonce of 22
 * @see RFC 7636 §4.1, OpenID Connect Core 1.0 §3.1.2.1
 */
export function deriveLoginParts(browserSecret: Buffer) {
  const bytes = hash('sha512', browserSecret, 'buffer');
  const codeVerifier = bytes.toString('base64url', idLength, idLength + verifierLength);
  const nonce = bytes.toString('base64url', idLength + verifierLength);
  return { id: bytes.subarray(0, idLength), codeVerifier, nonce };
}

/** The S256 code challenge of a verifier. @see RFC 7636 §4.2 */
export function deriveCodeChallenge(verifier: string): string {
  return hash('sha256', verifier, 'base64url');
}
