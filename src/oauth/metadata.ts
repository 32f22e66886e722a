import * as v from 'valibot';
import type { Provider, Revocation } from '../providers/provider.ts';
import { isLoopback, mayBeThisMachine, providerUrl } from '../urls.ts';
import { DiscoveryError } from './discovery-error.ts';
import { parseJsonObject } from './json.ts';
import { protocolParameters } from './parameters.ts';

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

/**
 * What metadata says of the provider.
 *
 * @throws {DiscoveryError} `unsupported`, or why an endpoint cannot be used
 */
export function providerOf(
  metadata: Metadata,
  kind: MetadataKind,
  context: MetadataContext,
): Provider {
  const { given, issuer } = context;
  const methods = metadata['token_endpoint_auth_methods_supported'];
  const requirements = unsupportedRequirements(metadata, given);
  if (requirements.length > 0) {
    const explanation = `the provider requires ${requirements.join(', and ')}, which this relay does not support`;
    throw new DiscoveryError('unsupported', { explanation });
  }
  const endpoint = (name: keyof typeof flags) =>
    given[name] ?? requiredUrl(name, metadata, context);
  const speaksOpenId = kind === 'openid' || includes(metadata['scopes_supported'], 'openid');
  return {
    authorizeUrl: endpoint('authorizeUrl'),
    tokenUrl: endpoint('tokenUrl'),
    userUrl: endpoint('userUrl'),
    scope: given.scope ?? (speaksOpenId ? 'openid' : undefined),
    scopesSupported: v.is(v.array(v.string()), metadata['scopes_supported'])
      ? metadata['scopes_supported']
      : undefined,
    clientAuthentication: given.clientAuthentication ?? authenticationAmong(methods, context),
    // Many servers take PKCE without saying so. @see RFC 9700 §2.1.1
    pkce: given.pkce ?? true,
    authorizeParameters: given.authorizeParameters,
    tokenParameters: given.tokenParameters,
    ...refreshOf(metadata),
    revocation: given.revocation ?? revocationOf(metadata, context),
    logoutUrl: optionalUrl('logoutUrl', metadata, context),
    issuer,
    issRequired: metadata['authorization_response_iss_parameter_supported'] === true,
  };
}

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

function requiredUrl(
  name: keyof typeof flags,
  metadata: Metadata,
  context: MetadataContext,
): string {
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

/** @see OpenID Connect Core 1.0 §11 */
function refreshOf(metadata: Metadata): Pick<Provider, 'refreshTokens' | 'refreshRequest'> {
  if (!offers(metadata['grant_types_supported'], 'refresh_token'))
    return { refreshTokens: 'never' };
  const scope = 'offline_access';
  return includes(metadata['scopes_supported'], scope) ? { refreshRequest: { scope } } : {};
}

function revocationOf(metadata: Metadata, context: MetadataContext): Revocation | undefined {
  const url = optionalUrl('revocationUrl', metadata, context);
  return url === undefined ? undefined : { url, request: 'rfc7009' };
}

/** Logins work without these endpoints. So one that cannot be used counts as missing. */
function optionalUrl(
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

/**
 * How the client authenticates. Servers disagree on whether Basic is form-encoded, but not on the body.
 * So the body is used if that makes a difference and the server takes it.
 *
 * Without a list, the method is `client_secret_basic`. @see RFC 8414 §2, RFC 6749 §2.3.1
 */
function authenticationAmong(
  methods: unknown,
  { encodingChanges }: MetadataContext,
): 'basic' | 'body' {
  const takesBasic = methods === undefined || includes(methods, 'client_secret_basic');
  const takesBody = includes(methods, 'client_secret_post');
  return takesBody && (encodingChanges || !takesBasic) ? 'body' : 'basic';
}

/** The requirements and gaps of a server that make logins impossible, as text. */
function unsupportedRequirements(metadata: Metadata, given: Partial<Provider>): string[] {
  const methods = metadata['token_endpoint_auth_methods_supported'];
  const takesSecret =
    given.clientAuthentication !== undefined ||
    offers(methods, 'client_secret_basic') ||
    offers(methods, 'client_secret_post');
  const requirements: readonly (readonly [boolean, string])[] = [
    [metadata['require_pushed_authorization_requests'] === true, 'pushed authorization requests'],
    [metadata['require_signed_request_object'] === true, 'signed request objects'],
    [
      !takesSecret,
      'a client that authenticates without a client secret, such as a public one, or one with private_key_jwt',
    ],
    [!offers(metadata['response_types_supported'], 'code'), 'a response type other than code'],
    [!offers(metadata['response_modes_supported'], 'query'), 'a response mode other than query'],
    [
      !offers(metadata['grant_types_supported'], 'authorization_code'),
      'a grant other than authorization_code',
    ],
  ];
  return requirements.filter(([required]) => required).map(([, what]) => what);
}

/** Whether a list has the word. A list that is missing excludes nothing. */
function offers(list: unknown, word: string): boolean {
  return list === undefined || includes(list, word);
}

function includes(list: unknown, word: string): boolean {
  return Array.isArray(list) && list.includes(word);
}
