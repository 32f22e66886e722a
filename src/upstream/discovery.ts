import { RelayError } from '../failures/relay-error.ts';
import {
  DiscoveryError,
  type DiscoveryFailure,
  type Metadata,
  type MetadataContext,
  metadataUrls,
  parseMetadata,
} from '../oauth/metadata.ts';
import { readDescribedProvider } from '../oauth/provider-from-metadata.ts';
import type { Provider } from '../providers/provider.ts';
import type { UpstreamClient } from './client.ts';
import type { UpstreamResponse } from './messages.ts';

const mostRedirects = 3;

/** Failures of the issuer itself, after which its other address would fail as well. */
const issuerFailures: ReadonlySet<DiscoveryFailure> = new Set(['unreachable', 'timeout', 'overloaded']);

/**
 * Fetches the metadata of an issuer: OpenID Connect's, or OAuth's if there is none. `provider-source.ts` keeps it, and
 * tries again.
 *
 * @throws {DiscoveryError}
 * @see OpenID Connect Discovery 1.0 §4, RFC 8414 §3
 */
export async function discoverProvider(client: UpstreamClient, context: MetadataContext): Promise<Provider> {
  const failures: DiscoveryError[] = [];
  for (const { kind, url } of metadataUrls(context)) {
    let metadata: Metadata;
    try {
      metadata = parseMetadata(await fetchMetadata(client, url), context.issuer);
    } catch (error) {
      if (!(error instanceof DiscoveryError) || issuerFailures.has(error.reason)) throw error;
      failures.push(error);
      continue;
    }
    return readDescribedProvider(metadata, kind, context);
  }
  // Prefer any failure to "not found", because most issuers have metadata at only one address.
  throw failures.find(({ reason }) => reason !== 'not_found') ?? new DiscoveryError('not_found');
}

/** Fetches one address. Redirects are only followed within its origin, because another origin is another issuer. */
async function fetchMetadata(client: UpstreamClient, url: string): Promise<Uint8Array> {
  let next = url;
  for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
    const response = await getMetadata(client, next);
    if (response.status === 200) return response.body;
    const target = redirectTarget(response, next);
    if (target === undefined) throw errorForStatus(response.status);
    const { origin, pathname, search } = target;
    if (origin !== new URL(url).origin) {
      throw new DiscoveryError('redirected', { detail: `to another origin${describeOrigin(origin)}` });
    }
    // Rebuild the URL, so that a user name or password in the target is not sent.
    next = origin + pathname + search;
  }
  throw new DiscoveryError('redirected', { detail: `more than ${mostRedirects} times` });
}

/** Makes one request. @throws {DiscoveryError} if there is no response */
async function getMetadata(client: UpstreamClient, url: string): Promise<UpstreamResponse> {
  let code: string | undefined;
  try {
    const request = { endpoint: 'metadata', method: 'GET', url, headers: {} } as const;
    return await client.call(request, ({ error }) => {
      code = error;
    });
  } catch (error) {
    throw error instanceof RelayError ? new DiscoveryError(reasonOfFailedCall(error), { code }) : error;
  }
}

/** Why a call without a response failed, in the words of discovery. */
function reasonOfFailedCall({ code }: RelayError): DiscoveryFailure {
  if (code === 'provider_timeout') return 'timeout';
  if (code === 'provider_answer_unusable') return 'too_large';
  return code === 'overloaded' ? 'overloaded' : 'unreachable';
}

/** The target of a redirect; undefined if the response is no redirect, or has no valid target. */
function redirectTarget({ status, headers }: UpstreamResponse, from: string): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status)) return undefined;
  return URL.parse(headers.location ?? '', from) ?? undefined;
}

/** The error for a status that is neither 200 nor a redirect. */
function errorForStatus(status: number): DiscoveryError {
  if (status === 404 || status === 410) return new DiscoveryError('not_found');
  return new DiscoveryError(status >= 500 ? 'unavailable' : 'unexpected_status', {
    detail: `${status}`,
  });
}

/** Describes an origin for a log line. The provider chose it, so only a short http or https origin is shown. */
function describeOrigin(origin: string): string {
  return /^https?:\/\/.{1,100}$/.test(origin) ? `, ${origin}` : '';
}
