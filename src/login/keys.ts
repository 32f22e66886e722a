import { scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { Secret } from '../secret.ts';

/** Keys for states: the first one seals, every one is accepted. */
export type StateKeys = readonly [Buffer, ...Buffer[]];

const derive = promisify<string, string, number, Buffer>(scrypt);
const derived = new WeakMap<Secret, Promise<StateKeys>>();

/**
 * Derives the key for states from the client secret, for relays that are given none: every replica
 * with the same client secret arrives at the same key. Each secret is derived from once: who asks
 * early spares who asks later the wait.
 */
export function deriveStateKey(clientSecret: Secret): Promise<StateKeys> {
  let keys = derived.get(clientSecret);
  if (keys === undefined) {
    keys = derive(clientSecret.reveal(), 'login-relay state key', 32).then((key) => [key]);
    derived.set(clientSecret, keys);
  }
  return keys;
}
