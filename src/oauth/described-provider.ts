import * as v from 'valibot';
import type { Provider, Revocation } from '../providers/provider.ts';
import { DiscoveryError } from './discovery-error.ts';
import type { Metadata, MetadataContext, MetadataKind } from './metadata.ts';
import { optionalEndpoint, requiredEndpoint } from './metadata-endpoints.ts';

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
  const speaksOpenId = kind === 'openid' || includes(metadata['scopes_supported'], 'openid');
  return {
    authorizeUrl: requiredEndpoint('authorizeUrl', metadata, context),
    tokenUrl: requiredEndpoint('tokenUrl', metadata, context),
    userUrl: requiredEndpoint('userUrl', metadata, context),
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
    logoutUrl: optionalEndpoint('logoutUrl', metadata, context),
    issuer,
    issRequired: metadata['authorization_response_iss_parameter_supported'] === true,
  };
}

/** @see OpenID Connect Core 1.0 §11 */
function refreshOf(metadata: Metadata): Pick<Provider, 'refreshTokens' | 'refreshRequest'> {
  if (!offers(metadata['grant_types_supported'], 'refresh_token'))
    return { refreshTokens: 'never' };
  const scope = 'offline_access';
  return includes(metadata['scopes_supported'], scope) ? { refreshRequest: { scope } } : {};
}

function revocationOf(metadata: Metadata, context: MetadataContext): Revocation | undefined {
  const url = optionalEndpoint('revocationUrl', metadata, context);
  return url === undefined ? undefined : { url, request: 'rfc7009' };
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
