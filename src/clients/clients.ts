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

/** The audience of identifiers that operators make offline: they are good at every relay that has the key. */
export const offlineAudience = 'offline';

/** The clients that a front end lets in without an entry of their own. */
export interface ClientRules {
  readonly name: string;
  /** Those of its apps and extensions. */
  readonly origins: readonly OriginPattern[];
  /** The keys of the identifiers that its operator makes offline. */
  readonly clientKeys: readonly [Secret, ...Secret[]] | undefined;
  /** Which open clients it lets in: those that publish a document, or register themselves. Undefined: none. */
  readonly clients:
    | {
        readonly documents: DocumentRule | undefined;
        readonly registration: boolean;
        /** Schemes of apps that they may have, besides those with a dot and known ones. */
        readonly schemes?: readonly string[] | undefined;
        readonly days: number;
      }
    | undefined;
}

/** What the clients of a registration share with others. */
interface Surroundings extends Pick<AddressLimits, 'fetchCountKeyOf' | 'countFetch' | 'countRegistration'> {
  readonly issuer: string;
  readonly keys: KeyRing;
  readonly documents: Documents;
  readonly now: Clock;
}

/** A client, and the name of the front end that lets it in. */
export interface FoundClient {
  readonly frontEnd: string;
  readonly client: Client;
}

/** The clients of a registration that have no entry of their own. */
export type Clients = ReturnType<typeof createClients>;

export function createClients(
  rules: readonly ClientRules[],
  { issuer, keys, documents, fetchCountKeyOf, countFetch, countRegistration, now }: Surroundings,
) {
  // At most one front end lets in open clients: config/checks/access.ts.
  const openFrontEnd = rules.find(({ clients }) => clients !== undefined);
  const schemes = openFrontEnd?.clients?.schemes ?? [];
  // This relay issues them to clients that register themselves.
  const ownIds = openFrontEnd?.clients?.registration
    ? createClientIds(keys, openFrontEnd.name, issuer, now)
    : undefined;
  const offlineIds = rules.flatMap(({ name, clientKeys }) =>
    clientKeys === undefined
      ? []
      : [createClientIds(deriveKeysFromFile(clientKeys).client, name, offlineAudience, now)],
  );

  /**
   * The client that is sealed into an identifier: one that the operator made offline, or one that the client got when it
   * registered itself.
   *
   * @returns undefined if the identifier holds no client of this registration
   * @throws {RelayError} `client_expired`
   */
  function heldBy(id: string, evenIfExpired = false): FoundClient | undefined {
    for (const ids of ownIds === undefined ? offlineIds : [...offlineIds, ownIds]) {
      const client = ids.openClient(id, evenIfExpired);
      if (client === undefined) continue;
      const { frontEnd: name } = ids;
      if (ids !== ownIds) return { frontEnd: name, client: { id, vouchedBy: 'operator', ...client } };
      return { frontEnd: name, client: { id, vouchedBy: 'itself', ...withSchemes(client) } };
    }
    return undefined;
  }

  /** A client without the redirect URIs whose schemes such clients may not have, or not any more. */
  const withSchemes = <Of extends ClientMetadata>(client: Of): Of => ({
    ...client,
    redirectUris: client.redirectUris.filter((uri) => mayBeOfStranger(uri, schemes)),
  });

  /** The URL of a client's document, if an identifier is one, and if the rules accept it. */
  function documentAt(id: string): URL | undefined {
    const { documents: rule } = openFrontEnd?.clients ?? {};
    const url = rule && documentUrl(id);
    if (!rule || !url) return undefined;
    const isAccepted = rule === 'any' || rule.hosts.includes(url.host) || rule.urls.includes(id);
    return isAccepted ? url : undefined;
  }

  return {
    /** Whether a request may come from any page, until its client is known. */
    areAnywhere: openFrontEnd !== undefined || offlineIds.length > 0,
    takesDocuments: openFrontEnd?.clients?.documents !== undefined,
    takesNewClients: ownIds !== undefined,
    /** Schemes of apps that they may have, besides those with a dot and known ones. */
    schemes,
    /** The origins of apps and extensions from which they may register. */
    origins: openFrontEnd?.origins ?? [],
    heldBy,
    /** The front end that lets in the client of a document, if an identifier is its URL, and if the rules accept it. */
    frontEndOfDocument: (id: string): string | undefined => (documentAt(id) ? openFrontEnd?.name : undefined),
    /**
     * The client of an identifier that holds it, or that is the URL of its document.
     *
     * @param expectQuestion throws unless a person can be asked: otherwise no document is fetched
     * @returns undefined if the identifier is of no client of this registration
     * @throws {RelayError} `client_expired`, `client_document_unreachable`, `client_document_invalid`, `rate_limited` or
     *   `overloaded`
     */
    async find(id: string, request: IncomingMessage, expectQuestion: () => void): Promise<FoundClient | undefined> {
      const held = heldBy(id);
      const url = held === undefined ? documentAt(id) : undefined;
      if (openFrontEnd === undefined || url === undefined) return held;
      expectQuestion();
      const client = await documents.fetchClient(url, fetchCountKeyOf(request), countFetch);
      const usable = withSchemes(client);
      if (usable.redirectUris.length === 0) throw new RelayError('client_document_invalid');
      return { frontEnd: openFrontEnd.name, client: usable };
    },
    /**
     * Registers a client: what it says is in the identifier that it gets, and nothing is stored.
     *
     * @returns its identifier
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
