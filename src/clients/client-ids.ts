import { hash } from 'node:crypto';
import * as v from 'valibot';
import { type Clock, clockSkew, secondsOf } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { createSeal, isPossible } from '../sealing/sealed.ts';
import { longestDays } from '../times.ts';
import type { ClientMetadata } from './read-metadata.ts';

/** The hash of a client identifier, to which codes and tokens are bound. The identifier itself may be long. */
export function hashClient(id: string): string {
  return hash('sha256', id, 'base64url');
}

const content = v.object({
  redirectUris: v.array(v.string()),
  name: v.optional(v.string()),
  /** Seconds since 1970. */
  endsAt: v.number(),
});

/**
 * Client identifiers of the form `<front end>.lr1_…`, which contain their client, sealed, so that nothing is stored.
 *
 * @param audience the relays that accept the identifiers
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
     * Opens the client in an identifier.
     *
     * @returns undefined if it is not such an identifier, is altered, or was made with other keys or for another
     *   audience
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
