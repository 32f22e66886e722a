import * as v from 'valibot';
import { isLoopback, mayBeThisMachine, providerUrl } from '../urls.ts';
import { DiscoveryError, type DiscoveryFailure, type RequiredEndpoint } from './discovery-error.ts';
import type { Metadata, MetadataContext } from './metadata.ts';
import { protocolParameters } from './parameters.ts';

/** The fields of the endpoints. @see RFC 8414 §2, OpenID Connect RP-Initiated Logout 1.0 §2.1 */
const fields = {
  authorizeUrl: 'authorization_endpoint',
  tokenUrl: 'token_endpoint',
  userUrl: 'userinfo_endpoint',
  revocationUrl: 'revocation_endpoint',
  logoutUrl: 'end_session_endpoint',
} as const;

/** The options that give by hand what a login needs. */
const flags = {
  authorizeUrl: '--authorize-url',
  tokenUrl: '--token-url',
  userUrl: '--user-url',
} as const satisfies Record<RequiredEndpoint, string>;

/**
 * The URL of an endpoint that logins need: the configured one, else that of the metadata.
 *
 * @throws {DiscoveryError} if there is none, or none that can be used
 */
export function requiredEndpoint(
  name: RequiredEndpoint,
  metadata: Metadata,
  context: MetadataContext,
): string {
  const given = context.given[name];
  if (given !== undefined) return given;
  const value = metadata[fields[name]];
  if (value === undefined) {
    const explanation = `the metadata has no ${fields[name]}: give it by hand, with ${flags[name]}`;
    throw new DiscoveryError('endpoint_missing', { explanation, endpoint: name });
  }
  const url = usableUrl(name, value, context);
  if (typeof url === 'string') throw new DiscoveryError(url, { endpoint: name });
  return url.href;
}

/** The URL of an endpoint that logins work without. So one that cannot be used counts as missing. */
export function optionalEndpoint(
  name: 'revocationUrl' | 'logoutUrl',
  metadata: Metadata,
  context: MetadataContext,
): string | undefined {
  const url = usableUrl(name, metadata[fields[name]], context);
  return typeof url === 'string' ? undefined : url.href;
}

/**
 * Reads the URL of an endpoint, or says why it cannot be used. A remote issuer must not send the client
 * secret to a service on this machine or over plain http, and must not set the relay's own parameters.
 */
function usableUrl(
  name: keyof typeof fields,
  value: unknown,
  { issuer, insecureHttp }: MetadataContext,
): URL | DiscoveryFailure {
  const result = v.safeParse(providerUrl, value, { abortPipeEarly: true });
  if (!result.success) return 'endpoint_unusable';
  const url = result.output;
  const issuerUrl = new URL(issuer);
  if (url.protocol === 'http:') {
    const allowed = issuerUrl.protocol === 'http:' && (insecureHttp || isLoopback(url));
    if (!allowed) return 'endpoint_unusable';
  }
  if (mayBeThisMachine(url) && !mayBeThisMachine(issuerUrl)) {
    return 'endpoint_on_this_machine';
  }
  if (protocolParameters[name].some((parameter) => url.searchParams.has(parameter))) {
    return 'endpoint_parameter';
  }
  return url;
}
