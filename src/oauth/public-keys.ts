import { createPublicKey, type KeyObject } from 'node:crypto';
import { isObject } from './json.ts';

/** The members of a JWK that only the owner of the key may know. @see RFC 7518 §6 */
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'] as const;

/** Whether a JWK contains a private or symmetric key. */
export const isPrivateJwk = (jwk: object): boolean => secretMembers.some((member) => member in jwk);

/** The signature algorithms of client assertions. Each key type has its own. @see RFC 7518 §3.1, RFC 8037 §3.1 */
export const assertionAlgorithms = ['ES256', 'EdDSA', 'Ed25519', 'RS256'] as const;

/** A public key, and the only algorithms that it verifies. */
export interface PublicKey {
  readonly key: KeyObject;
  readonly algorithms: readonly (typeof assertionAlgorithms)[number][];
}

/** The fewest bits of an RSA modulus. @see RFC 7518 §3.3 */
const shortestModulus = 2048;
const longestModulus = 8192;

/** The present key, and the previous one during a rotation. */
const mostKeys = 2;

const wrongForm = 'names a file without a public key: it must be PEM (-----BEGIN PUBLIC KEY-----) or a JWK';

/**
 * Reads one or two public keys from the text of a file: PEM, a JWK, or a JWK Set.
 *
 * @returns the keys, or a fault that completes a sentence about the setting that names the file
 */
export function readPublicKeys(text: string): readonly PublicKey[] | string {
  const found = text.trimStart().startsWith('{') ? readJwks(text) : readPemKeys(text);
  if (typeof found === 'string') return found;
  if (found.length === 0) return wrongForm;
  if (found.length > mostKeys) return `names a file with more than ${mostKeys} keys`;
  const keysOrFaults = found.map(toPublicKey);
  const fault = keysOrFaults.find((result) => typeof result === 'string');
  return fault ?? keysOrFaults.filter((result) => typeof result === 'object');
}

const privateKeyFault = 'names a private key: give the public key, and keep the private one with the machine alone';

/** Reads public keys from PEM. @returns the keys, or a fault as {@link readPublicKeys} does */
function readPemKeys(text: string): readonly KeyObject[] | string {
  // Refuse a private key. Node.js would derive the public key from it, but nobody would notice that the relay has the
  // private one.
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) return privateKeyFault;
  const blocks = text.match(/-----BEGIN (RSA )?PUBLIC KEY-----.*?-----END (RSA )?PUBLIC KEY-----/gs) ?? [];
  const keys = blocks.map((pem) => undefinedIfThrown(() => createPublicKey(pem)));
  return keys.every((key) => key !== undefined) ? keys : wrongForm;
}

/** Reads a JWK or a JWK Set. @returns the keys, or a fault as {@link readPublicKeys} does */
function readJwks(text: string): readonly KeyObject[] | string {
  const json: unknown = undefinedIfThrown(() => JSON.parse(text));
  const candidates = isObject(json) && Array.isArray(json['keys']) ? json['keys'] : [json];
  const jwks = candidates.filter(isObject);
  if (jwks.some(isPrivateJwk)) return privateKeyFault;
  if (jwks.length < candidates.length) return wrongForm;
  const keys = jwks.map((jwk) => undefinedIfThrown(() => createPublicKey({ key: jwk, format: 'jwk' })));
  return keys.every((key) => key !== undefined) ? keys : wrongForm;
}

/** Returns a key with the algorithms of its type, or the fault of a key that cannot be used. */
function toPublicKey(key: KeyObject): PublicKey | string {
  const { asymmetricKeyType: type, asymmetricKeyDetails: { modulusLength = 0, namedCurve } = {} } = key;
  if (type === 'ec' && namedCurve === 'prime256v1') return { key, algorithms: ['ES256'] };
  if (type === 'ed25519') return { key, algorithms: ['EdDSA', 'Ed25519'] };
  if (type !== 'rsa') return 'names a key that is neither P-256, Ed25519 nor RSA';
  if (modulusLength >= shortestModulus && modulusLength <= longestModulus) return { key, algorithms: ['RS256'] };
  return `names an RSA key that does not have ${shortestModulus} to ${longestModulus} bits`;
}

/** Returns the result of a function, or undefined if it throws. */
function undefinedIfThrown<Value>(make: () => Value): Value | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
