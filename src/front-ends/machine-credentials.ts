import { timingSafeEqual } from 'node:crypto';
import { hashKey } from '../memory/expiring-map.ts';
import type { PublicKey } from '../oauth/public-keys.ts';
import type { Secret } from '../sealing/secret.ts';

export interface MachineCredentials {
  readonly secrets: readonly Secret[];
  readonly keys: readonly PublicKey[];
}

/**
 * The ids of all credentials of a machine. A token contains the id of the credential that got it. When the
 * configuration drops the credential, the token ends.
 */
export function credentialIds({ secrets, keys }: MachineCredentials): readonly string[] {
  return [...secrets.map((secret) => hashSecret(secret.reveal())), ...keys.map(hashPublicKey)];
}

/** The id of the secret that equals one of the given texts. Undefined if none does. */
export function findSecret({ secrets }: MachineCredentials, given: readonly string[]): string | undefined {
  const givenIds = given.map((text) => Buffer.from(hashSecret(text)));
  const ids = secrets.map((secret) => hashSecret(secret.reveal()));
  return ids.find((id) => givenIds.some((givenId) => timingSafeEqual(givenId, Buffer.from(id))));
}

/** Hashed, so that the time of the comparison reveals nothing, not even the length. */
const hashSecret = (secret: string) => hashKey('machine secret', secret);

export const hashPublicKey = ({ key }: Pick<PublicKey, 'key'>): string =>
  hashKey('machine key', key.export({ format: 'der', type: 'spki' }).toString('base64'));

/** The audience of a machine's tokens. They end with the machine, and with the credential that got them. */
export const audienceOfMachine = (name: string, credential: string): string => `${name} machine ${credential}`;
