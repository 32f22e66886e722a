import { hash } from 'node:crypto';
import * as v from 'valibot';
import { type Clock, clockSkew, secondsOf } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { isPossible, longestDays } from '../sealing/lifetimes.ts';
import { createSeal } from '../sealing/sealed.ts';
import type { ClientMetadata } from './read-metadata.ts';

/** What codes and tokens are bound to in place of a client identifier, which may be long. */
export function hashClient(id: string): string {
  return hash('sha256', id, 'base64url');
}

const content = v.object({
  redirectUris: v.array(v.string()),
  name: v.optional(v.string()),
  /** When the identifier expires, in seconds since 1970. */
  endsAt: v.number(),
});

/**
 * Client identifiers that hold their client, sealed, so that nothing is stored: `<front end>.lr1_…`.
 *
 * @param audience where the identifiers are good
 */
export function createClientIds(keys: KeyRing, frontEnd: string, audience: string, now: Clock) {
  const seal = createSeal('client', keys, content);
  const prefix = `${frontEnd}.`;
  return {
    frontEnd,
    /** @param days until the identifier expires */
    issue({ redirectUris, name }: ClientMetadata, days: number): string {
      const endsAt = secondsOf(now) + days * 86_400;
      const held = { redirectUris: [...redirectUris], name, endsAt };
      return prefix + seal.seal(held, frontEnd, audience);
    },
    /**
     * The client that an identifier holds.
     *
     * @returns undefined if it is no such identifier, if it is altered, or made with other keys or for another audience
     * @throws {RelayError} `client_expired`
     */
    openClient(id: string, evenIfExpired: boolean): ClientMetadata | undefined {
      const sealed = id.startsWith(prefix) ? id.slice(prefix.length) : '';
      const opened = seal.open(sealed, frontEnd, audience);
      if (opened === undefined) return undefined;
      const { endsAt, ...client } = opened;
      if (!isPossible(secondsOf(now), endsAt, longestDays.clientId * 86_400 + clockSkew, now)) return undefined;
      if (!evenIfExpired && now() >= endsAt * 1000) throw new RelayError('client_expired');
      return client;
    },
  };
}
