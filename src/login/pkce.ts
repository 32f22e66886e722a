import { hash } from 'node:crypto';

const idLength = 16;
const verifierLength = 32;

/**
 * What only the browser with this secret can show: the id of its login, and the code verifier, so that the relay stores
 * nothing. Both are parts of one SHA-512, so neither tells the other.
 *
 * @returns an id of 16 bytes, and a verifier of 43 characters
 * @see RFC 7636 §4.1
 */
export function idAndVerifierOf(browserSecret: Buffer) {
  const bytes = hash('sha512', browserSecret, 'buffer');
  const codeVerifier = bytes.toString('base64url', idLength, idLength + verifierLength);
  return { id: bytes.subarray(0, idLength), codeVerifier };
}

/** The S256 code challenge to a verifier. @see RFC 7636 §4.2 */
export function codeChallenge(verifier: string): string {
  return hash('sha256', verifier, 'base64url');
}
