import * as v from 'valibot';
import { isLoopback, mayBeThisMachine, providerUrl } from '../urls.ts';
import { DiscoveryError } from './discovery-error.ts';
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
} as const;

/**
 * The URL of an endpoint that logins need: the configured one, else that of the metadata.
 *
 * @throws {DiscoveryError} if there is none, or none that can be used
 */
export function requiredEndpoint(
  name: keyof typeof flags,
  metadata: Metadata,
  context: MetadataContext,
): string {
  const given = context.given[name];
  if (given !== undefined) return given;
  const value = metadata[fields[name]];
  if (value === undefined) {
    const explanation = `the metadata has no ${fields[name]}: give it by hand, with ${flags[name]}`;
    throw new DiscoveryError('endpoint_missing', { explanation });
  }
  return endpointUrl(name, value, context);
}

/**
 * Reads the URL of an endpoint. A remote issuer must not send the client secret to a service on this
 * machine or over plain http, and must not set the relay's own parameters.
 */
function endpointUrl(
  name: keyof typeof fields,
  value: unknown,
  { issuer, insecureHttp }: MetadataContext,
): string {
  const result = v.safeParse(providerUrl, value, { abortPipeEarly: true });
  if (!result.success) throw new DiscoveryError('endpoint_unusable');
  const url = result.output;
  const issuerUrl = new URL(issuer);
  if (url.protocol === 'http:') {
    const allowed = issuerUrl.protocol === 'http:' && (insecureHttp || isLoopback(url));
    if (!allowed) throw new DiscoveryError('endpoint_unusable');
  }
  if (mayBeThisMachine(url) && !mayBeThisMachine(issuerUrl)) {
    throw new DiscoveryError('endpoint_on_this_machine');
  }
  if (protocolParameters[name].some((parameter) => url.searchParams.has(parameter))) {
    throw new DiscoveryError('endpoint_parameter');
  }
  return url.href;
}

/** The URL of an endpoint that logins work without. So one that cannot be used counts as missing. */
export function optionalEndpoint(
  name: 'revocationUrl' | 'logoutUrl',
  metadata: Metadata,
  context: MetadataContext,
): string | undefined {
  try {
    return endpointUrl(name, metadata[fields[name]], context);
  } catch (error) {
    if (error instanceof DiscoveryError) return undefined;
    throw error;
  }
}
