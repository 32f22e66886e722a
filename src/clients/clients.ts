import type { IncomingMessage } from 'node:http';
import type { Clock } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import type { AddressLimits } from '../login/address-limits.ts';
import { mayBeOfStranger } from '../origins/app-schemes.ts';
import type { OriginPattern } from '../origins/origin-pattern.ts';
import { deriveKeysFromFile, type KeyRing } from '../sealing/keys.ts';
import type { Secret } from '../sealing/secret.ts';
import { documentUrl } from '../urls.ts';
import { createClientIds } from './client-ids.ts';
import type { DocumentRule, Documents } from './fetch-documents.ts';
import type { Client, ClientMetadata } from './read-metadata.ts';

/** The audience of identifiers that operators make offline, for every relay that has the key. */
export const offlineAudience = 'offline';

export interface ClientRules {
  readonly name: string;
  readonly origins: readonly OriginPattern[];
  /** The keys of identifiers that the operator makes offline. */
  readonly clientKeys: readonly [Secret, ...Secret[]] | undefined;
  /** Which clients may come with a document, or register themselves. Undefined: none. */
  readonly clients:
    | {
        readonly documents: DocumentRule | undefined;
        readonly registration: boolean;
        /** Schemes of apps that they may use, besides known ones and those with a dot. */
        readonly schemes?: readonly string[] | undefined;
        readonly days: number;
      }
    | undefined;
}

interface Surroundings extends Pick<AddressLimits, 'fetchCountKeyOf' | 'countFetch' | 'countRegistration'> {
  readonly issuer: string;
  readonly keys: KeyRing;
  readonly documents: Documents;
  readonly now: Clock;
}

/** A client, and the name of the front end that admits it. */
export interface FoundClient {
  readonly frontEnd: string;
  readonly client: Client;
}

export type Clients = ReturnType<typeof createClients>;

/**
 * Finds the clients that the front ends of a registration admit, whose identifiers contain them or name their documents,
 * and registers new ones.
 */
export function createClients(
  rules: readonly ClientRules[],
  { issuer, keys, documents, fetchCountKeyOf, countFetch, countRegistration, now }: Surroundings,
) {
  // At most one front end admits open clients: config/checks/access.ts.
  const openFrontEnd = rules.find(({ clients }) => clients !== undefined);
  const schemes = openFrontEnd?.clients?.schemes ?? [];
  const { ownIds, offlineIds, findHeld } = createHeldClients(rules, openFrontEnd, { issuer, keys, now });

  /** The URL of a client's document, if the identifier is one that the rules accept. */
  function documentAt(id: string): URL | undefined {
    const { documents: rule } = openFrontEnd?.clients ?? {};
    const url = rule && documentUrl(id);
    if (!rule || !url) return undefined;
    const isAccepted = rule === 'any' || rule.hosts.includes(url.host) || rule.urls.includes(id);
    return isAccepted ? url : undefined;
  }

  return {
    /** Whether a request may come from any page until its client is known. */
    takesAnyOrigin: openFrontEnd !== undefined || offlineIds.length > 0,
    takesDocuments: openFrontEnd?.clients?.documents !== undefined,
    takesNewClients: ownIds !== undefined,
    schemes,
    origins: openFrontEnd?.origins ?? [],
    findHeld,
    /** The name of the front end that admits a client whose identifier is the URL of its document. */
    frontEndOfDocument: (id: string): string | undefined => (documentAt(id) ? openFrontEnd?.name : undefined),
    /**
     * Finds the client of an identifier, in it or in the document that it names.
     *
     * @param expectQuestion throws unless a person can be asked. Otherwise, any page could make its visitors cause
     *   fetches with images
     * @returns undefined if the identifier is no client's of this registration
     * @throws {RelayError} `client_expired`, `client_document_unreachable`, `client_document_invalid`, `rate_limited`
     *   or `overloaded`
     */
    async find(id: string, request: IncomingMessage, expectQuestion: () => void): Promise<FoundClient | undefined> {
      const held = findHeld(id);
      const url = held === undefined ? documentAt(id) : undefined;
      if (openFrontEnd === undefined || url === undefined) return held;
      expectQuestion();
      const client = await documents.fetchClient(url, fetchCountKeyOf(request), countFetch);
      const usable = dropForeignSchemes(client, schemes);
      if (usable.redirectUris.length === 0) throw new RelayError('client_document_invalid');
      return { frontEnd: openFrontEnd.name, client: usable };
    },
    /**
     * Registers a client. The identifier contains everything, so nothing is stored.
     *
     * @returns the identifier
     * @throws {RelayError} `client_metadata_invalid` or `rate_limited`
     * @see RFC 7591 §3
     */
    async register(metadata: ClientMetadata, request: IncomingMessage): Promise<string> {
      await countRegistration(request);
      const id = ownIds?.issue(metadata, openFrontEnd?.clients?.days ?? 0);
      if (id === undefined || id.length > limits.clientIdLength) {
        throw new RelayError('client_metadata_invalid');
      }
      return id;
    },
  };
}

/** Reads the clients that identifiers contain. */
function createHeldClients(
  rules: readonly ClientRules[],
  openFrontEnd: ClientRules | undefined,
  { issuer, keys, now }: Pick<Surroundings, 'issuer' | 'keys' | 'now'>,
) {
  const schemes = openFrontEnd?.clients?.schemes ?? [];
  // Identifiers that this relay issues to clients that register themselves.
  const ownIds = openFrontEnd?.clients?.registration
    ? createClientIds(keys, openFrontEnd.name, issuer, now)
    : undefined;
  const offlineIds = rules.flatMap(({ name, clientKeys }) =>
    clientKeys === undefined
      ? []
      : [createClientIds(deriveKeysFromFile(clientKeys).client, name, offlineAudience, now)],
  );

  /**
   * The client sealed into an identifier, made offline by the operator or by a registration.
   *
   * @returns undefined if the identifier contains no client of this registration
   * @throws {RelayError} `client_expired`
   */
  function findHeld(id: string, evenIfExpired = false): FoundClient | undefined {
    for (const ids of ownIds === undefined ? offlineIds : [...offlineIds, ownIds]) {
      const client = ids.openClient(id, evenIfExpired);
      if (client === undefined) continue;
      const { frontEnd: name } = ids;
      if (ids !== ownIds) return { frontEnd: name, client: { id, vouchedBy: 'operator', ...client } };
      return { frontEnd: name, client: { id, vouchedBy: 'itself', ...dropForeignSchemes(client, schemes) } };
    }
    return undefined;
  }

  return { ownIds, offlineIds, findHeld };
}

/** Drops redirect URIs whose schemes are not allowed any more. */
const dropForeignSchemes = <Of extends ClientMetadata>(client: Of, schemes: readonly string[]): Of => ({
  ...client,
  redirectUris: client.redirectUris.filter((uri) => mayBeOfStranger(uri, schemes)),
});
