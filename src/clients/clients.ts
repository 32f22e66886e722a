import type { IncomingMessage } from 'node:http';
import type { Clock } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import type { AddressLimits } from '../login/address-limits.ts';
import { mayUnregisteredClientUse } from '../origins/app-schemes.ts';
import type { OriginPattern } from '../origins/origin-pattern.ts';
import { deriveKeysFromFile, type KeyRing } from '../sealing/keys.ts';
import type { Secret } from '../sealing/secret.ts';
import { parseDocumentUrl } from '../urls.ts';
import { createClientIds } from './client-ids.ts';
import type { DocumentRule, Documents } from './fetch-documents.ts';
import type { Client, ClientMetadata } from './read-metadata.ts';

/** The audience of identifiers that operators make offline. Every relay that has the key accepts them. */
export const offlineAudience = 'offline';

/** The settings of a front end that decide which unregistered clients it admits. */
export interface ClientRules {
  readonly name: string;
  readonly origins: readonly OriginPattern[];
  /** The keys of identifiers that the operator makes offline. */
  readonly clientKeys: readonly [Secret, ...Secret[]] | undefined;
  /** Which clients may come with a document, or register themselves. Undefined if none may. */
  readonly clients:
    | {
        readonly documents: DocumentRule | undefined;
        readonly registration: boolean;
        /** Schemes of apps that they may use, besides known schemes and schemes with a dot. */
        readonly schemes?: readonly string[] | undefined;
        readonly days: number;
      }
    | undefined;
}

interface ClientsContext extends Pick<AddressLimits, 'fetchCountKeyOf' | 'countFetch' | 'countRegistration'> {
  readonly issuer: string;
  readonly keys: KeyRing;
  readonly documents: Documents;
  readonly now: Clock;
}

export interface FoundClient {
  readonly frontEnd: string;
  readonly client: Client;
}

export type Clients = ReturnType<typeof createClients>;

/**
 * Finds the unregistered clients that the front ends of a registration admit, and registers new clients. An identifier
 * contains its client, or is the URL of the client's document.
 */
export function createClients(
  rules: readonly ClientRules[],
  { issuer, keys, documents, fetchCountKeyOf, countFetch, countRegistration, now }: ClientsContext,
) {
  // At most one front end admits open clients, as config/checks/access.ts makes sure.
  const openFrontEnd = rules.find(({ clients }) => clients !== undefined);
  const schemes = openFrontEnd?.clients?.schemes ?? [];
  const { ownIds, offlineIds, findSealed } = createSealedClients(rules, openFrontEnd, { issuer, keys, now });

  /** The URL of a client's document, if the identifier is a URL that the rules accept. */
  function documentAt(id: string): URL | undefined {
    const rule = openFrontEnd?.clients?.documents;
    const url = rule && parseDocumentUrl(id);
    if (!rule || !url) return undefined;
    const isAccepted = rule === 'any' || rule.hosts.includes(url.host) || rule.urls.includes(id);
    return isAccepted ? url : undefined;
  }

  return {
    /** Whether a request may come from a page of any origin until its client is known. */
    takesAnyOrigin: openFrontEnd !== undefined || offlineIds.length > 0,
    /** Whether the identifier of a client may be the URL of its document. */
    takesDocuments: openFrontEnd?.clients?.documents !== undefined,
    /** Whether clients may register themselves. Without that, no endpoint calls `register`. */
    takesNewClients: ownIds !== undefined,
    /** Schemes of apps that the clients may use, besides known schemes and schemes with a dot. */
    schemes,
    /** The origins of the front end that admits clients. Its pages may register any client. */
    origins: openFrontEnd?.origins ?? [],
    findSealed,
    /** The name of the front end that admits a client whose identifier is the URL of its document. */
    frontEndOfDocument: (id: string): string | undefined => (documentAt(id) ? openFrontEnd?.name : undefined),
    /**
     * Finds the client of an identifier, in the identifier itself or in its document.
     *
     * @param expectQuestion throws unless the request opens a page, which can ask the person. Otherwise, any page could
     *   make its visitors cause fetches by images
     * @returns undefined if the identifier belongs to no client of this registration
     * @throws {RelayError} `client_expired`, `client_document_unreachable`, `client_document_invalid`, `rate_limited`
     *   or `overloaded`
     */
    async find(id: string, request: IncomingMessage, expectQuestion: () => void): Promise<FoundClient | undefined> {
      const sealed = findSealed(id);
      const url = sealed === undefined ? documentAt(id) : undefined;
      if (openFrontEnd === undefined || url === undefined) return sealed;
      expectQuestion();
      const client = await documents.fetchClient(url, fetchCountKeyOf(request), countFetch);
      const usable = dropForeignSchemes(client, schemes);
      if (usable.redirectUris.length === 0) throw new RelayError('client_document_invalid');
      return { frontEnd: openFrontEnd.name, client: usable };
    },
    /**
     * Registers a client.
     *
     * @returns the identifier, which contains the client, so that nothing is stored
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

/**
 * Creates the identifiers that contain their clients: `ownIds`, which this relay issues if clients may register
 * themselves, and `offlineIds`, which operators make, for each front end with client keys.
 */
function createSealedClients(
  rules: readonly ClientRules[],
  openFrontEnd: ClientRules | undefined,
  { issuer, keys, now }: Pick<ClientsContext, 'issuer' | 'keys' | 'now'>,
) {
  const schemes = openFrontEnd?.clients?.schemes ?? [];
  const ownIds = openFrontEnd?.clients?.registration
    ? createClientIds(keys, openFrontEnd.name, issuer, now)
    : undefined;
  const offlineIds = rules.flatMap(({ name, clientKeys }) =>
    clientKeys === undefined
      ? []
      : [createClientIds(deriveKeysFromFile(clientKeys).client, name, offlineAudience, now)],
  );

  /**
   * Opens the client in an identifier that the operator made offline, or that this relay issued when the client
   * registered itself.
   *
   * @param evenIfExpired whether to return an expired client instead of throwing
   * @returns undefined if the identifier contains no client of this provider's entry
   * @throws {RelayError} `client_expired`
   */
  function findSealed(id: string, evenIfExpired = false): FoundClient | undefined {
    for (const ids of ownIds === undefined ? offlineIds : [...offlineIds, ownIds]) {
      const client = ids.openClient(id, evenIfExpired);
      if (client === undefined) continue;
      const { frontEnd: name } = ids;
      if (ids !== ownIds) return { frontEnd: name, client: { id, vouchedBy: 'operator', ...client } };
      return { frontEnd: name, client: { id, vouchedBy: 'itself', ...dropForeignSchemes(client, schemes) } };
    }
    return undefined;
  }

  return { ownIds, offlineIds, findSealed };
}

/** Drops redirect URIs whose schemes are not allowed any more. */
const dropForeignSchemes = <Of extends ClientMetadata>(client: Of, schemes: readonly string[]): Of => ({
  ...client,
  redirectUris: client.redirectUris.filter((uri) => mayUnregisteredClientUse(uri, schemes)),
});
