import { scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { Secret } from '../secret.ts';

/** Keys for states: the first one seals, every one is accepted. */
export type StateKeys = readonly [Buffer, ...Buffer[]];

/**
 * Derives the key for states from the client secret, for relays that are given none: every replica
 * with the same client secret arrives at the same key.
 */
export async function deriveStateKey(clientSecret: Secret): Promise<StateKeys> {
  const derive = promisify<string, string, number, Buffer>(scrypt);
  return [await derive(clientSecret.reveal(), 'login-relay state key', 32)];
}
