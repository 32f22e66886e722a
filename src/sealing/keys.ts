import { hkdfSync, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { Secret } from './secret.ts';

/** The keys of one purpose, 32 bytes each. The first one seals, all of them open. */
export type KeyRing = readonly [Buffer, ...Buffer[]];

/** The keys of a relay, one ring per purpose. Replicas with the same secret have the same keys. */
export type Keys = Readonly<ReturnType<typeof deriveRings>>;

const keyLength = 32;
/** Makes guessing expensive, because a client secret may be short and chosen by a person. */
const stretch = promisify<string, string, number, Buffer>(scrypt);

/**
 * Derives the keys from the lines of a key file.
 *
 * @param secrets 32 or more characters each: the current one, and the previous one during a rotation
 * @see RFC 5869
 */
export function deriveKeysFromFile([current, ...previous]: readonly [Secret, ...Secret[]]): Keys {
  return deriveRings([current.reveal(), ...previous.map((one) => one.reveal())]);
}

/** Derives the keys of a relay from the lines of its key file, or else from the client secret. */
export async function deriveKeys(
  keySecrets: readonly [Secret, ...Secret[]] | undefined,
  clientSecret: Secret,
): Promise<Keys> {
  if (keySecrets !== undefined) return deriveKeysFromFile(keySecrets);
  return deriveRings([await stretch(clientSecret.reveal(), 'login-relay keys', keyLength)]);
}

/** A ring for each purpose. `nonce` makes the nonces of DPoP proofs; the others seal what they are named after. */
function deriveRings([current, ...previous]: readonly [string | Buffer, ...string[]]) {
  const ring = (purpose: string): KeyRing => {
    const derive = (secret: string | Buffer) =>
      Buffer.from(hkdfSync('sha256', secret, '', `login-relay ${purpose}`, keyLength));
    return [derive(current), ...previous.map(derive)];
  };
  return {
    state: ring('state'),
    code: ring('code'),
    refreshToken: ring('refresh token'),
    accessToken: ring('access token'),
    session: ring('session'),
    client: ring('client'),
    consent: ring('consent'),
    door: ring('door'),
    nonce: ring('nonce'),
    memory: ring('shared memory'),
  };
}
