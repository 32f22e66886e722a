import { hkdfSync, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { Secret } from './secret.ts';

/** The keys of one purpose, 32 bytes each. The first key seals, and all of them open. */
export type KeyRing = readonly [Buffer, ...Buffer[]];

/** The keys of a relay, one ring per purpose. Replicas with the same secret have the same keys. */
export type Keys = Readonly<ReturnType<typeof deriveRings>>;

const keyLength = 32;
/** Makes it expensive to guess the secret, because a client secret may be short and chosen by a person. */
const stretchSecret = promisify<string, string, number, Buffer>(scrypt);

/**
 * Derives the keys from the lines of a key file.
 *
 * @param secrets at least 32 characters each: the current secret, and the previous one during a rotation
 * @see RFC 5869
 */
export function deriveKeysFromFile([current, ...previous]: readonly [Secret, ...Secret[]]): Keys {
  return deriveRings([current.reveal(), ...previous.map((secret) => secret.reveal())]);
}

/** Derives the keys of a relay from the lines of its key file, or else from the client secret. */
export async function deriveKeys(
  keySecrets: readonly [Secret, ...Secret[]] | undefined,
  clientSecret: Secret,
): Promise<Keys> {
  if (keySecrets !== undefined) return deriveKeysFromFile(keySecrets);
  return deriveRings([await stretchSecret(clientSecret.reveal(), 'login-relay keys', keyLength)]);
}

/**
 * Derives a ring for each purpose. `nonce` is for the nonces of DPoP proofs. The others seal what they are named after.
 */
function deriveRings([current, ...previous]: readonly [string | Buffer, ...string[]]) {
  const deriveRing = (purpose: string): KeyRing => {
    const derive = (secret: string | Buffer) =>
      Buffer.from(hkdfSync('sha256', secret, '', `login-relay ${purpose}`, keyLength));
    return [derive(current), ...previous.map(derive)];
  };
  return {
    state: deriveRing('state'),
    code: deriveRing('code'),
    refreshToken: deriveRing('refresh token'),
    accessToken: deriveRing('access token'),
    session: deriveRing('session'),
    client: deriveRing('client'),
    consent: deriveRing('consent'),
    door: deriveRing('door'),
    nonce: deriveRing('nonce'),
    memory: deriveRing('shared memory'),
  };
}
