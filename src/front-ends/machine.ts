import { timingSafeEqual } from 'node:crypto';
import { hashKey } from '../memory/recent.ts';
import type { PublicKey } from '../oauth/public-keys.ts';
import type { Secret } from '../sealing/secret.ts';

/** What a machine may prove who it is by: one of its secrets, or a signature of one of its keys. */
export interface MachineCredentials {
  readonly secrets: readonly Secret[];
  readonly keys: readonly PublicKey[];
}

/** The ids of all credentials of a machine. Its tokens hold the id of theirs, and end with it. */
export function credentialIds({ secrets, keys }: MachineCredentials): readonly string[] {
  return [...secrets.map((secret) => hashSecret(secret.reveal())), ...keys.map(hashPublicKey)];
}

/** The id of the secret of a machine that equals one of the given texts, if one does. */
export function findSecret({ secrets }: MachineCredentials, given: readonly string[]): string | undefined {
  const asked = given.map((one) => Buffer.from(hashSecret(one)));
  return secrets
    .map((secret) => hashSecret(secret.reveal()))
    .find((id) => asked.some((one) => timingSafeEqual(one, Buffer.from(id))));
}

/** A hash: `timingSafeEqual` compares only what has the same length, and how long it takes tells nothing of a secret. */
const hashSecret = (secret: string) => hashKey('machine secret', secret);

export const hashPublicKey = ({ key }: Pick<PublicKey, 'key'>): string =>
  hashKey('machine key', key.export({ format: 'der', type: 'spki' }).toString('base64'));

/** What the tokens of a machine are bound to. */
export const audienceOfMachine = (name: string, credential: string): string => `${name} machine ${credential}`;
