import { hash } from 'node:crypto';
import * as v from 'valibot';
import { type Clock, secondsOf } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { nativeRedirectUri } from '../origins/schemas.ts';
import type { KeyRing } from '../sealing/keys.ts';
import { createSeal } from '../sealing/sealed.ts';

/** A client that has no entry in the configuration. */
export interface Client extends ClientMetadata {
  readonly id: string;
  /** Who answers for it: `operator` made its identifier, `host` published its document, `itself` nobody. */
  readonly vouchedBy: 'operator' | 'host' | 'itself';
}

/** What a client says of itself. */
export interface ClientMetadata {
  readonly redirectUris: readonly string[];
  readonly name?: string | undefined;
}

const longestName = 40;
const mostRedirectUris = 20;
/** Controls, line ends, and characters that reorder or hide others. */
const invisible = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu;

/**
 * Reads the redirect URIs of a client.
 *
 * @returns undefined if they are not a list of 1 to 20 that native clients may have
 */
export function redirectUrisOf(given: unknown): readonly string[] | undefined {
  const uris = v.safeParse(redirectUris, given);
  return uris.success ? uris.output : undefined;
}

const redirectUris = v.pipe(
  v.array(nativeRedirectUri),
  v.minLength(1),
  v.maxLength(mostRedirectUris),
);

/** Reads the name of a client, as one short line for people. */
export function clientNameOf(metadata: Readonly<Record<string, unknown>>): string | undefined {
  const { client_name: given } = metadata;
  if (typeof given !== 'string') return undefined;
  const line = given.slice(0, 1024).replace(invisible, ' ').replace(/\s+/g, ' ').trim();
  const letters = [...line];
  if (letters.length <= longestName) return line || undefined;
  return `${letters.slice(0, longestName).join('')}…`;
}

/** What codes and tokens are bound to, in place of an identifier that may be long. */
export function keyOfClient(id: string): string {
  return hash('sha256', id, 'base64url');
}

const content = v.object({
  redirectUris: v.array(v.string()),
  name: v.optional(v.string()),
  /** Seconds since 1970. */
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
    /** @param days until it ends */
    issue({ redirectUris, name }: ClientMetadata, days: number): string {
      const endsAt = secondsOf(now) + days * 86_400;
      const held = { redirectUris: [...redirectUris], name, endsAt };
      return prefix + seal.seal(held, frontEnd, audience);
    },
    /**
     * @param mayBeOver whether it may have ended
     * @returns undefined if it is no such identifier, if it is altered, or made with other keys or for another audience
     * @throws {RelayError} `client_expired`
     */
    open(id: string, mayBeOver: boolean): ClientMetadata | undefined {
      const sealed = id.startsWith(prefix) ? id.slice(prefix.length) : '';
      const opened = seal.open(sealed, frontEnd, audience);
      if (opened === undefined) return undefined;
      const { endsAt, ...client } = opened;
      if (!mayBeOver && now() >= endsAt * 1000) throw new RelayError('client_expired');
      return client;
    },
  };
}
