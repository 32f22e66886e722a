import { hkdfSync, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { Secret } from './secret.ts';

/** The keys of one purpose, 32 bytes each: the first one signs or seals, all of them verify or open. */
export type KeyRing = readonly [Buffer, ...Buffer[]];

/** The keys of a relay, one ring per purpose. Replicas with the same secret have the same keys. */
export type Keys = Readonly<ReturnType<typeof keysFrom>>;

const keyLength = 32;
const stretch = promisify<string, string, number, Buffer>(scrypt);

/**
 * Derives the keys from the lines of a key file.
 *
 * @param secrets 32 or more characters each: the current one, and the previous one during a rotation
 * @see RFC 5869
 */
export function keysFromFile([current, ...previous]: readonly [Secret, ...Secret[]]): Keys {
  return keysFrom([current.reveal(), ...previous.map((one) => one.reveal())]);
}

/**
 * Derives the keys of a relay.
 *
 * @param keyFile its lines. Without a key file, the client secret takes its place
 */
export async function keysOf(
  keyFile: readonly [Secret, ...Secret[]] | undefined,
  clientSecret: Secret,
): Promise<Keys> {
  if (keyFile !== undefined) return keysFromFile(keyFile);
  return keysFrom([await stretch(clientSecret.reveal(), 'login-relay keys', keyLength)]);
}

function keysFrom([current, ...previous]: readonly [string | Buffer, ...string[]]) {
  const ring = (purpose: string): KeyRing => {
    const derive = (secret: string | Buffer) =>
      Buffer.from(hkdfSync('sha256', secret, '', `login-relay ${purpose}`, keyLength));
    return [derive(current), ...previous.map(derive)];
  };
  return {
    /** Signs states. */
    state: ring('state'),
    /** Seals the codes that front ends redeem. */
    code: ring('code'),
    /** Seals the refresh tokens of front ends. */
    refreshToken: ring('refresh token'),
    /** Seals the cookies of sessions. */
    session: ring('session'),
    /** Seals the identifiers of clients that registered themselves. */
    client: ring('client'),
    /** Seals what a person is asked to consent to. */
    consent: ring('consent'),
    /** Makes the nonces of DPoP proofs. */
    nonce: ring('nonce'),
    /** Seals what relays leave for each other. */
    memory: ring('shared memory'),
  };
}
