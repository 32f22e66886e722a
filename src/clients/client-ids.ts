import { hash } from 'node:crypto';
import * as v from 'valibot';
import { type Clock, clockSkew, nowInSeconds } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { couldBeIssued, createSeal } from '../sealing/seal.ts';
import { longestDays } from '../times.ts';
import type { ClientMetadata } from './read-metadata.ts';

/** Hashes a client identifier, which may be long. Codes and tokens are bound to the hash. */
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
 * Issues and opens client identifiers of the form `<front end>.lr1_…`. They contain their client, sealed, so that
 * nothing is stored.
 *
 * @param audience the issuer that accepts the identifiers, or `offlineAudience` for every relay with the key
 */
export function createClientIds(keys: KeyRing, frontEnd: string, audience: string, now: Clock) {
  const seal = createSeal('client', keys, content);
  const prefix = `${frontEnd}.`;
  return {
    frontEnd,
    /** Seals a client into an identifier. @param days until it expires */
    issue({ redirectUris, name }: ClientMetadata, days: number): string {
      const endsAt = nowInSeconds(now) + days * 86_400;
      return prefix + seal.seal({ redirectUris: [...redirectUris], name, endsAt }, frontEnd, audience);
    },
    /**
     * Opens the client in an identifier.
     *
     * @param evenIfExpired whether to return an expired client instead of throwing
     * @returns undefined if the identifier is of another form, is altered, or was made with other keys or for another
     *   audience
     * @throws {RelayError} `client_expired`
     */
    openClient(id: string, evenIfExpired: boolean): ClientMetadata | undefined {
      const sealed = id.startsWith(prefix) ? id.slice(prefix.length) : '';
      const opened = seal.open(sealed, frontEnd, audience);
      if (opened === undefined) return undefined;
      const { endsAt, ...client } = opened;
      // An identifier does not say when it was issued, but it cannot last longer than one that is issued now.
      if (!couldBeIssued(nowInSeconds(now), endsAt, longestDays.clientId * 86_400 + clockSkew, now)) return undefined;
      if (!evenIfExpired && now() >= endsAt * 1000) throw new RelayError('client_expired');
      return client;
    },
  };
}
