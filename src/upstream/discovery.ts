import * as v from 'valibot';
import { RelayError } from '../errors.ts';
import { parseJsonObject } from '../oauth/json.ts';
import { protocolParameters } from '../oauth/parameters.ts';
import type { Provider } from '../providers/provider.ts';
import { isLoopback, mayBeThisMachine, providerUrl } from '../urls.ts';
import type { UpstreamClient } from './client.ts';

const reasons = {
  unreachable: 'the issuer cannot be reached',
  timeout: 'the issuer takes too long to answer',
  unavailable: 'the issuer answers with a server error',
  not_found: 'there is no metadata at the issuer: check the address of the issuer',
  not_json: 'the metadata is not a JSON object: check the address of the issuer',
  too_large: 'the metadata is larger than 1 MiB',
  overloaded: 'too many calls to the provider are in flight',
  issuer_mismatch: 'the metadata names another issuer: configure exactly the name it uses',
  endpoint_missing: 'the metadata lacks an endpoint: give it by hand',
  endpoint_unusable:
    'an endpoint in the metadata is not an https URL, or at a link-local or metadata address',
  endpoint_on_this_machine:
    'an endpoint in the metadata is on this machine, and the issuer is not: correct the issuer, or give the endpoint by hand',
  endpoint_parameter:
    'an endpoint in the metadata has a parameter of the protocol in its query: give the endpoint by hand',
  client_authentication: 'the token endpoint takes no client secret, neither in body nor header',
} as const;

/** Why discovery failed. */
export class DiscoveryError extends Error {
  override readonly name = 'DiscoveryError';
  readonly reason: keyof typeof reasons;
  /** For the operator: what is wrong and what to do. */
  readonly explanation: string;
  /** The error code of the system or of TLS, such as `ECONNREFUSED`. */
  readonly code: string | undefined;
  /** What the metadata calls its issuer, if that is the reason. */
  readonly metadataIssuer: unknown;

  constructor(reason: keyof typeof reasons, code?: string, metadataIssuer?: unknown) {
    super(reason);
    this.reason = reason;
    this.explanation = reasons[reason];
    this.code = code;
    this.metadataIssuer = metadataIssuer;
  }
}

/** The issuer, and what the configuration says about the provider. */
export interface DiscoverySource {
  readonly issuer: string;
  /** Configured values. They override the metadata. */
  readonly given: Partial<Provider>;
  /** Whether endpoints may be on plain http beyond this machine. */
  readonly insecureHttp: boolean;
}

/**
 * Fetches the metadata of an issuer: OpenID Connect's, or OAuth's if there is none.
 *
 * @throws {DiscoveryError}
 * @see OpenID Connect Discovery 1.0 §4, RFC 8414 §3
 */
export async function discoverProvider(
  client: UpstreamClient,
  source: DiscoverySource,
): Promise<Provider> {
  for (const url of metadataUrls(source.issuer)) {
    const answer = await fetchMetadata(client, url);
    if (answer !== undefined) return parseMetadata(answer, source);
  }
  throw new DiscoveryError('not_found');
}

function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
}

async function fetchMetadata(client: UpstreamClient, url: string): Promise<Uint8Array | undefined> {
  let code: string | undefined;
  try {
    const request = { endpoint: 'metadata', method: 'GET', url, headers: {} } as const;
    const { status, body } = await client.call(request, ({ error }) => {
      code = error;
    });
    if (status >= 500) throw new DiscoveryError('unavailable');
    return status === 200 ? body : undefined;
  } catch (error) {
    throw error instanceof RelayError ? new DiscoveryError(transportReason(error), code) : error;
  }
}

function transportReason({ code }: RelayError): keyof typeof reasons {
  if (code === 'provider_timeout') return 'timeout';
  if (code === 'provider_answer_unusable') return 'too_large';
  return code === 'overloaded' ? 'overloaded' : 'unreachable';
}

function parseMetadata(bytes: Uint8Array, source: DiscoverySource): Provider {
  const metadata = parseJsonObject(bytes);
  if (metadata === undefined) throw new DiscoveryError('not_json');
  // Otherwise one provider could impersonate another. @see RFC 8414 §3.3
  const { issuer } = metadata;
  if (issuer !== source.issuer) throw new DiscoveryError('issuer_mismatch', undefined, issuer);
  const { given } = source;
  const endpoint = (name: keyof typeof endpoints) =>
    given[name] ?? endpointUrl(name, metadata[endpoints[name]], source);
  return {
    authorizeUrl: endpoint('authorizeUrl'),
    tokenUrl: endpoint('tokenUrl'),
    userUrl: endpoint('userUrl'),
    scope: given.scope ?? 'openid',
    tokenRequest:
      given.tokenRequest ?? tokenRequest(metadata['token_endpoint_auth_methods_supported']),
    pkce: includes(metadata['code_challenge_methods_supported'], 'S256'),
    issuer: source.issuer,
    issRequired: metadata['authorization_response_iss_parameter_supported'] === true,
  };
}

/** The names of the endpoints in metadata. @see RFC 8414 §2, OpenID Connect Discovery 1.0 §3 */
const endpoints = {
  authorizeUrl: 'authorization_endpoint',
  tokenUrl: 'token_endpoint',
  userUrl: 'userinfo_endpoint',
} as const;

/**
 * Reads the URL of an endpoint. A remote issuer must not send the client secret to a service on this
 * machine or over plain http, and must not set the relay's own parameters.
 */
function endpointUrl(
  name: keyof typeof endpoints,
  value: unknown,
  { issuer, insecureHttp }: DiscoverySource,
): string {
  if (value === undefined) throw new DiscoveryError('endpoint_missing');
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

/** Without a list, the method is client_secret_basic. @see RFC 8414 §2 */
function tokenRequest(supported: unknown): 'basic' | 'body' {
  if (supported === undefined || includes(supported, 'client_secret_basic')) return 'basic';
  if (includes(supported, 'client_secret_post')) return 'body';
  throw new DiscoveryError('client_authentication');
}

function includes(list: unknown, word: string): boolean {
  return Array.isArray(list) && list.includes(word);
}
