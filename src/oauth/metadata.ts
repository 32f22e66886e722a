import type { Provider } from '../providers/provider.ts';
import { type JsonObject, parseJsonObject } from './json.ts';

/** Metadata that name the issuer that was asked. Fields that were null are missing. */
export type Metadata = JsonObject;

/** The standard that the metadata follow. The relay does not request the scope `openid` from a plain OAuth server. */
export type MetadataKind = 'openid' | 'oauth';

/** The issuer, and the settings that metadata must fit. */
export interface MetadataContext {
  readonly issuer: string;
  /** The only address to ask, in place of the standard ones. */
  readonly metadataUrl?: string | undefined;
  readonly clientId: string;
  /** The configured facts about the provider. */
  readonly given: Partial<Provider>;
  readonly insecureHttp: boolean;
  /** Whether form-encoding changes the client's credentials, so that servers may read them differently. */
  readonly encodingChanges: boolean;
}

/**
 * The addresses at which an issuer may have its metadata, in the order of asking.
 *
 * @see OpenID Connect Discovery 1.0 §4, RFC 8414 §3
 */
export function metadataUrls({
  issuer,
  metadataUrl,
}: Pick<MetadataContext, 'issuer' | 'metadataUrl'>): readonly { kind: MetadataKind; url: string }[] {
  if (metadataUrl !== undefined) {
    const isOAuth = metadataUrl.includes('/.well-known/oauth-authorization-server');
    return [{ kind: isOAuth ? 'oauth' : 'openid', url: metadataUrl }];
  }
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    { kind: 'openid', url: `${origin}${path}/.well-known/openid-configuration` },
    { kind: 'oauth', url: `${origin}/.well-known/oauth-authorization-server${path}` },
  ];
}

/**
 * Parses metadata and requires the right issuer, so that one provider cannot impersonate another.
 *
 * @throws {DiscoveryError} `not_json`, `issuer_mismatch` or `issuer_scheme`
 * @see RFC 8414 §3.3
 */
export function parseMetadata(bytes: Uint8Array, issuer: string): Metadata {
  const object = parseJsonObject(bytes);
  if (object === undefined) throw new DiscoveryError('not_json');
  const metadata = Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
  const { issuer: metadataIssuer } = metadata;
  if (metadataIssuer === issuer) return metadata;
  // A provider behind a proxy that terminates TLS may name itself by the plain http request that it gets.
  throw issuer.replace(/^https:/, 'http:') === metadataIssuer
    ? new DiscoveryError('issuer_scheme')
    : new DiscoveryError('issuer_mismatch', { metadataIssuer });
}

/** The explanation of each failure and, after a colon, what to do. A detail replaces `{}`. */
const explanations = {
  unreachable: 'the issuer cannot be reached',
  timeout: 'the issuer takes too long to answer',
  unavailable: 'the address of the metadata answers with status {}, a server error',
  unexpected_status: 'the address of the metadata answers with status {}: correct the issuer',
  redirected: 'the address of the metadata redirects {}: correct the issuer',
  not_found:
    'there is no metadata at the issuer: correct the issuer, set metadata-url if they are elsewhere, or give the three endpoints by hand',
  not_json: 'the metadata is not a JSON object: correct the issuer',
  too_large: 'the metadata is larger than 1 MiB',
  overloaded: 'too many calls to the provider are in flight',
  issuer_mismatch: 'the metadata names another issuer: correct the issuer to the name that it uses',
  issuer_scheme:
    'the metadata names this issuer with http instead of https: have the proxy in front of the provider send X-Forwarded-Proto, and the provider trust it',
  endpoint_missing: 'the metadata has no {}',
  endpoint_unusable:
    'an endpoint in the metadata is not an https URL, or is at a link-local or metadata address: correct the issuer, or give the endpoint by hand',
  endpoint_on_this_machine:
    'an endpoint in the metadata is on this machine, and the issuer is not: correct the issuer, or give the endpoint by hand',
  endpoint_parameter:
    'an endpoint in the metadata has a parameter of the protocol in its query: give the endpoint by hand',
  unsupported:
    'the provider requires {}, which this relay does not support: turn that off there, or use another kind of provider',
} as const;

/** The name of the reason, as it appears in logs. */
export type DiscoveryFailure = keyof typeof explanations;

/** The endpoints that a login needs, by the options that set them. */
export type RequiredEndpoint = 'authorizeUrl' | 'tokenUrl' | 'userUrl';

/** Why discovery has not found a usable provider. */
export class DiscoveryError extends Error {
  override readonly name = 'DiscoveryError';
  readonly reason: DiscoveryFailure;
  /** For the operator: what is wrong and, after a colon, what to do. */
  readonly explanation: string;
  /** The error code of the system or of TLS, such as `ECONNREFUSED`. */
  readonly code: string | undefined;
  /** The issuer in the metadata, if it is the wrong one. */
  readonly metadataIssuer: unknown;

  constructor(
    reason: DiscoveryFailure,
    more: { detail?: string; code?: string | undefined; metadataIssuer?: unknown } = {},
  ) {
    super(reason);
    this.reason = reason;
    this.explanation = explanations[reason].replace('{}', () => more.detail ?? '');
    this.code = more.code;
    this.metadataIssuer = more.metadataIssuer;
  }
}
