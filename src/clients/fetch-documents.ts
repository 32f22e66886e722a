import type { LookupFunction } from 'node:net';
import type { Clock } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import { createExpiringMap } from '../memory/expiring-map.ts';
import { createJointWork } from '../memory/joint-work.ts';
import { isObject, parseJsonObject } from '../oauth/json.ts';
import { createUpstreamClient } from '../upstream/client.ts';
import { createPublicLookup, isPublicUrl } from '../upstream/public-addresses.ts';
import { type Client, mostRedirectUris, readClientName, readRedirectUris } from './read-metadata.ts';

/** The shortest and longest time for which a document is kept, in seconds, whatever its headers say. */
const shortestLife = 60;
const longestLife = 3600;
const mostKept = 256;
/** The redirect URIs that are read of a document, whether or not the relay accepts them. */
const mostReadUris = 100;
const concurrentFetches = 32;
/** Fetches at once for one count key, so that one address cannot take all places. */
const concurrentFetchesOfKey = 4;

/** Which documents are accepted: all, or the documents at these hosts (with port) and at these exact URLs. */
export type DocumentRule = 'any' | { readonly hosts: readonly string[]; readonly urls: readonly string[] };

export type Documents = ReturnType<typeof createDocuments>;

/**
 * Fetches the documents of clients, each within 3 seconds, and keeps them for a minute to an hour, as their headers
 * say. It uses no proxy, because it has to check the address of the connection.
 *
 * @param mayBeHere whether documents may be on this machine, for development
 * @param resolve replaces the system's lookup of host names, for tests
 */
export function createDocuments(mayBeHere: boolean, now: Clock, resolve?: LookupFunction) {
  const client = createUpstreamClient({
    timeout: limits.documentTime,
    concurrentCalls: concurrentFetches,
    answerSize: limits.documentSize,
    lookup: createPublicLookup(mayBeHere, resolve),
  });
  const known = createExpiringMap<Client>(mostKept, now);
  const inFlight = new Map<string, number>();
  const join = createJointWork<Client>();

  /**
   * Fetches a document, validates it, and keeps it.
   *
   * @throws {RelayError} `client_document_invalid`, or why the call failed
   */
  async function fetchDocument(url: URL): Promise<Client> {
    const { href } = url;
    const request = { endpoint: 'metadata', method: 'GET', url, headers: {} } as const;
    const { status, headers, body } = await client.call(request, () => {}).catch(failAsDocument);
    const isJson = /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(headers['content-type'] ?? '');
    const document = status === 200 && isJson ? parseJsonObject(body) : undefined;
    const redirectUris = pickUsableUris(document?.['redirect_uris']);
    if (!isObject(document) || document['client_id'] !== href || redirectUris === undefined) {
      throw new RelayError('client_document_invalid');
    }
    const found: Client = {
      id: href,
      vouchedBy: 'host',
      redirectUris,
      name: readClientName(document),
    };
    known.set(href, found, secondsToKeep(headers['cache-control']) * 1000);
    return found;
  }

  /** As `fetchDocument`, but a few at once for one client address, its count key. @throws {RelayError} `overloaded` */
  async function fetchWithinLimit(countKey: string, url: URL): Promise<Client> {
    const count = inFlight.get(countKey) ?? 0;
    if (count >= concurrentFetchesOfKey) throw new RelayError('overloaded');
    inFlight.set(countKey, count + 1);
    try {
      return await fetchDocument(url);
    } finally {
      const left = (inFlight.get(countKey) ?? 1) - 1;
      if (left > 0) inFlight.set(countKey, left);
      else inFlight.delete(countKey);
    }
  }

  return {
    /**
     * The client of a document, which is fetched unless it is kept.
     *
     * @param countKey from `fetchCountKeyOf`; undefined if the fetch is not counted
     * @param count counts a fetch, and may refuse it
     * @throws {RelayError} `client_document_unreachable`, `client_document_invalid` or `overloaded`, or as `count`
     */
    async fetchClient(
      url: URL,
      countKey: string | undefined,
      count: (countKey: string) => Promise<void>,
    ): Promise<Client> {
      const kept = known.get(url.href);
      if (kept !== undefined) return kept;
      if (!isPublicUrl(url, mayBeHere)) throw new RelayError('client_document_unreachable');
      if (countKey === undefined) return await join(url.href, () => fetchDocument(url));
      await count(countKey);
      return await join(url.href, () => fetchWithinLimit(countKey, url));
    },
    close: client.close,
  };
}

/** Turns the failure of a fetch into a failure of the client's document. */
function failAsDocument(error: unknown): never {
  if (!(error instanceof RelayError) || error.code === 'overloaded') throw error;
  const isUnusable = error.code === 'provider_answer_unusable';
  throw new RelayError(isUnusable ? 'client_document_invalid' : 'client_document_unreachable');
}

/** Picks the redirect URIs that the relay accepts. The others may be meant for other servers. */
function pickUsableUris(given: unknown): readonly string[] | undefined {
  const all = Array.isArray(given) ? given.slice(0, mostReadUris) : [];
  const usable = all.filter((uri) => readRedirectUris([uri]) !== undefined);
  return readRedirectUris(usable.slice(0, mostRedirectUris));
}

/** Seconds for which a document is kept. @see RFC 9111 §5.2.2 */
function secondsToKeep(cacheControl = ''): number {
  const [, seconds = '0'] = /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(cacheControl) ?? [];
  const mayBeKept = !/\bno-(store|cache)\b/i.test(cacheControl);
  return Math.min(longestLife, Math.max(shortestLife, mayBeKept ? Number(seconds) : 0));
}
