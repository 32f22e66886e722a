const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

export const utf8 = (text: string) => new TextEncoder().encode(text);

const base64url = (bytes: ArrayBuffer | Uint8Array<ArrayBuffer>): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=/g, '');

/** The `S256` challenge of a verifier. @see RFC 7636 §4.2 */
export const challengeOf = async (verifier: string) => base64url(await crypto.subtle.digest('SHA-256', utf8(verifier)));

/** Creates a key whose private half no script can read. */
export const createKey = () =>
  crypto.subtle.generateKey(algorithm, false, ['sign', 'verify']) as Promise<CryptoKeyPair>;

/**
 * Proves the key to a POST request.
 *
 * @param at seconds since 1970
 * @param nonce the newest one of the relay
 * @see RFC 9449 §4.2
 */
export async function prove(key: CryptoKeyPair, url: string, at: number, nonce: string | undefined): Promise<string> {
  const jwk = await crypto.subtle.exportKey('jwk', key.publicKey);
  const header = { typ: 'dpop+jwt', alg: 'ES256', jwk };
  const claims = { htm: 'POST', htu: url, iat: at, jti: crypto.randomUUID(), nonce };
  const content = [header, claims].map((part) => base64url(utf8(JSON.stringify(part)))).join('.');
  const signature = await crypto.subtle.sign(algorithm, key.privateKey, utf8(content));
  return `${content}.${base64url(signature)}`;
}
