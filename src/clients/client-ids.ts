import * as v from 'valibot';
import { type Clock, secondsOf } from '../clock.ts';
import { RelayError } from '../errors.ts';
import type { KeyRing } from '../keys.ts';
import { createSeal } from '../sealed.ts';
import type { ClientMetadata } from './client.ts';

const content = v.object({
  redirectUris: v.array(v.string()),
  name: v.optional(v.string()),
  /** Seconds since 1970. */
  endsAt: v.number(),
});

/** The front end that the text of an identifier names; undefined: it is no such identifier. */
export function frontEndOfClientId(id: string): string | undefined {
  return /^([A-Za-z0-9_-]{1,64})\.lr1_/.exec(id)?.[1];
}

/**
 * Client identifiers that hold their client, sealed, so that nothing is stored: `<front end>.lr1_…`.
 *
 * @param keys the keys for client identifiers
 * @param audience where the identifiers are good
 */
export function createClientIds(keys: KeyRing, frontEnd: string, audience: string, now: Clock) {
  const seal = createSeal('client', keys, content);
  return {
    /** @param days until it ends */
    issue({ redirectUris, name }: ClientMetadata, days: number): string {
      const endsAt = secondsOf(now) + days * 86_400;
      return `${frontEnd}.${seal.seal({ redirectUris: [...redirectUris], name, endsAt }, frontEnd, audience)}`;
    },
    /**
     * @returns undefined if the identifier is altered, or made with other keys or for another audience
     * @throws {RelayError} `client_expired`
     */
    open(id: string): ClientMetadata | undefined {
      const opened = seal.open(id.slice(frontEnd.length + 1), frontEnd, audience);
      if (opened === undefined) return undefined;
      const { endsAt, ...client } = opened;
      if (now() >= endsAt * 1000) throw new RelayError('client_expired');
      return client;
    },
  };
}
