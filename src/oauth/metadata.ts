import type { Provider } from '../providers/provider.ts';
import { DiscoveryError } from './discovery-error.ts';
import { parseJsonObject } from './json.ts';

/** A JSON object that names the issuer that was asked for. A field that is null counts as missing. */
export type Metadata = Readonly<Record<string, unknown>>;

/** The kind of metadata. An OAuth server gets no request for the scope `openid`. */
export type MetadataKind = 'openid' | 'oauth';

/** The issuer, and what is known of the provider besides its metadata. */
export interface MetadataContext {
  readonly issuer: string;
  /** Configured values. They override the metadata. */
  readonly given: Partial<Provider>;
  /** Whether endpoints may be on plain http beyond this machine. */
  readonly insecureHttp: boolean;
  /** Whether form-encoding changes the client's credentials: servers read them differently then. */
  readonly encodingChanges: boolean;
}

/**
 * The addresses at which an issuer may have its metadata, in the order to ask them.
 *
 * @see OpenID Connect Discovery 1.0 §4, RFC 8414 §3
 */
export function metadataUrls(issuer: string): readonly { kind: MetadataKind; url: string }[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    { kind: 'openid', url: `${origin}${path}/.well-known/openid-configuration` },
    { kind: 'oauth', url: `${origin}/.well-known/oauth-authorization-server${path}` },
  ];
}

/**
 * Parses metadata, and compares its issuer. Otherwise one provider could impersonate another.
 *
 * @throws {DiscoveryError} `not_json`, `issuer_mismatch` or `issuer_scheme`
 * @see RFC 8414 §3.3
 */
export function parseMetadata(bytes: Uint8Array, issuer: string): Metadata {
  const object = parseJsonObject(bytes);
  if (object === undefined) throw new DiscoveryError('not_json');
  const metadata = Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
  if (metadata['issuer'] !== issuer) throw issuerMismatch(issuer, metadata['issuer']);
  return metadata;
}

function issuerMismatch(issuer: string, metadataIssuer: unknown): DiscoveryError {
  // A provider behind a proxy that terminates TLS may build its name from the request that it gets.
  return issuer.replace(/^https:/, 'http:') === metadataIssuer
    ? new DiscoveryError('issuer_scheme')
    : new DiscoveryError('issuer_mismatch', { metadataIssuer });
}
