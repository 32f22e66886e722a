import { scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { Secret } from '../secret.ts';

/** The keys for states: the first one signs, all of them verify. */
export type StateKeys = readonly [Buffer, ...Buffer[]];

const derive = promisify<string, string, number, Buffer>(scrypt);

/**
 * Derives the key for states from the client secret, for relays without a key file. Every replica with
 * the same client secret derives the same key.
 */
export async function deriveStateKey(clientSecret: Secret): Promise<StateKeys> {
  return [await derive(clientSecret.reveal(), 'login-relay state key', 32)];
}
