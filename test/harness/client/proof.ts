import { createHash, randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

/** A key for proofs. */
export interface ProofKey {
  readonly alg: string;
  readonly privateKey: CryptoKey;
  /** The public key. */
  readonly jwk: JWK;
  /** @see RFC 7638 */
  readonly thumbprint: string;
}

/** @param alg `ES256`, `EdDSA` or another algorithm that jose knows */
export async function newProofKey(alg = 'ES256'): Promise<ProofKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = await exportJWK(publicKey);
  return { alg, privateKey, jwk, thumbprint: thumbprintOf(jwk) };
}

/** The differences from a valid proof. Undefined members are left out. */
export interface ProofChanges {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/**
 * Makes a DPoP proof.
 *
 * @param iat seconds since 1970
 * @see RFC 9449 §4.2
 */
export async function makeProof(
  { alg, privateKey, jwk }: ProofKey,
  url: string,
  iat: number,
  { header, claims }: ProofChanges = {},
): Promise<string> {
  const payload = given({ htm: 'POST', htu: url, iat, jti: randomUUID(), ...claims });
  return await new SignJWT(payload)
    .setProtectedHeader({ alg, ...given({ typ: 'dpop+jwt', jwk, ...header }) })
    .sign(privateKey);
}

function given(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Written from RFC 7638 §3.2, independently of the relay. */
function thumbprintOf({ crv, kty, x, y }: JWK): string {
  const members = y === undefined ? { crv, kty, x } : { crv, kty, x, y };
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url');
}
