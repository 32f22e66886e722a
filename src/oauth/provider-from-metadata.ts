import * as v from 'valibot';
import type { Provider } from '../providers/provider.ts';
import { isLoopback, mayBeThisMachine, providerUrl } from '../urls.ts';
import {
  DiscoveryError,
  type Metadata,
  type MetadataContext,
  type MetadataKind,
  type RequiredEndpoint,
} from './metadata.ts';
import { protocolParameters } from './protocol-parameters.ts';
import { withParameters } from './query.ts';

/**
 * Reads the provider from its metadata. Configured facts replace facts of the metadata.
 *
 * @throws {DiscoveryError} `unsupported`, or why an endpoint cannot be used
 */
export function readDescribedProvider(metadata: Metadata, kind: MetadataKind, context: MetadataContext): Provider {
  const { given, issuer } = context;
  const scopes = metadata['scopes_supported'];
  requireSupport(metadata, given);
  const speaksOpenId = kind === 'openid' || includes(scopes, 'openid');
  /** Returns the URL of an endpoint from the configuration or the metadata. Throws if it is missing or unusable. */
  const requireEndpoint = (name: RequiredEndpoint) => {
    const endpoint = given[name] ?? readEndpoint(metadata, name, context);
    if (endpoint instanceof DiscoveryError) throw endpoint;
    return endpoint;
  };
  /** Logins work without these endpoints, so an unusable endpoint counts as missing. */
  const readOptionalEndpoint = (name: 'revocationUrl' | 'logoutUrl' | 'userUrl') => {
    const endpoint = readEndpoint(metadata, name, context);
    return typeof endpoint === 'string' ? endpoint : undefined;
  };
  const revocationUrl = readOptionalEndpoint('revocationUrl');
  const logoutUrl = readOptionalEndpoint('logoutUrl');
  return {
    scope: speaksOpenId ? 'openid' : undefined,
    scopesSupported: v.is(v.array(v.string()), scopes) ? scopes : undefined,
    tokenRequest: chooseAuthentication(metadata, context),
    // Many servers support PKCE without saying so. @see RFC 9700 §2.1.1
    pkce: true,
    ...readRefreshSupport(metadata),
    revocation: revocationUrl ? { url: revocationUrl, request: 'rfc7009' } : undefined,
    // The client_id identifies the relay, which keeps no ID token. @see OpenID Connect RP-Initiated Logout 1.0 §2
    logoutUrl: logoutUrl && withParameters(logoutUrl, { client_id: context.clientId }),
    // Every OpenID provider supports `prompt=login`. @see OpenID Connect Core 1.0 §15.1
    accountPrompt: speaksOpenId ? 'login' : undefined,
    issuer,
    issRequired: metadata['authorization_response_iss_parameter_supported'] === true,
    // `access` and `userFrom` come from the configuration alone (`personSourceOf` in config/relations.ts).
    ...given,
    authorizeUrl: requireEndpoint('authorizeUrl'),
    tokenUrl: requireEndpoint('tokenUrl'),
    userUrl:
      given.userFrom === 'id-token' ? (given.userUrl ?? readOptionalEndpoint('userUrl')) : requireEndpoint('userUrl'),
  };
}

/** Reads whether the provider gives refresh tokens, and with which scope. @see OpenID Connect Core 1.0 §11 */
function readRefreshSupport(metadata: Metadata): Pick<Provider, 'refreshTokens' | 'refreshRequest'> {
  if (!allows(metadata['grant_types_supported'], 'refresh_token')) return { refreshTokens: 'never' };
  const scope = 'offline_access';
  return includes(metadata['scopes_supported'], scope) ? { refreshRequest: { scope } } : {};
}

/**
 * Chooses how the relay authenticates. Servers disagree on whether Basic is form-encoded. So if encoding changes the
 * credentials, they are sent in the body, if the server accepts that. If the metadata have no list, the method is
 * `client_secret_basic`.
 *
 * @see RFC 8414 §2, RFC 6749 §2.3.1
 */
function chooseAuthentication(
  { token_endpoint_auth_methods_supported: methods }: Metadata,
  { encodingChanges }: MetadataContext,
): 'basic' | 'body' {
  const takesBasic = allows(methods, 'client_secret_basic');
  const takesBody = includes(methods, 'client_secret_post');
  return takesBody && (encodingChanges || !takesBasic) ? 'body' : 'basic';
}

/** @throws {DiscoveryError} `unsupported` if the server requires or lacks something without which logins fail */
function requireSupport(metadata: Metadata, given: Partial<Provider>): void {
  const methods = metadata['token_endpoint_auth_methods_supported'];
  const takesSecret =
    given.tokenRequest !== undefined || allows(methods, 'client_secret_basic') || allows(methods, 'client_secret_post');
  const requirements = [
    metadata['require_pushed_authorization_requests'] === true && 'pushed authorization requests',
    metadata['require_signed_request_object'] === true && 'signed request objects',
    !takesSecret &&
      'a client that authenticates without a client secret, such as a public one, or one with private_key_jwt',
    !allows(metadata['response_types_supported'], 'code') && 'a response type other than code',
    !allows(metadata['response_modes_supported'], 'query') && 'a response mode other than query',
    !allows(metadata['grant_types_supported'], 'authorization_code') && 'a grant other than authorization_code',
  ].filter((requirement) => requirement !== false);
  if (requirements.length === 0) return;
  throw new DiscoveryError('unsupported', { detail: requirements.join(', and ') });
}

/** Whether metadata allow a word. A missing list excludes nothing. */
function allows(list: unknown, word: string): boolean {
  return list === undefined || includes(list, word);
}

function includes(list: unknown, word: string): boolean {
  return Array.isArray(list) && list.includes(word);
}

/** The names of the endpoints in metadata. @see RFC 8414 §2, OpenID Connect RP-Initiated Logout 1.0 §2.1 */
const metadataFields = {
  authorizeUrl: 'authorization_endpoint',
  tokenUrl: 'token_endpoint',
  userUrl: 'userinfo_endpoint',
  revocationUrl: 'revocation_endpoint',
  logoutUrl: 'end_session_endpoint',
} as const;

/**
 * Reads the URL of an endpoint. Returns an error if it is missing or unusable. Metadata from elsewhere must not send
 * the client secret to a service on this machine or over plain http, and must not set the relay's own parameters.
 */
function readEndpoint(
  metadata: Metadata,
  name: keyof typeof metadataFields,
  { issuer, metadataUrl, insecureHttp }: MetadataContext,
): string | DiscoveryError {
  const value = metadata[metadataFields[name]];
  if (value === undefined) {
    const flag = name.replace('Url', '-url');
    const otherWay = name === 'userUrl' ? ', or set user-from: id-token in the configuration file' : '';
    const detail = `${metadataFields[name]}: give it by hand, with --${flag}${otherWay}`;
    return new DiscoveryError('endpoint_missing', { detail });
  }
  const { success, output: url } = v.safeParse(providerUrl, value, { abortPipeEarly: true });
  if (!success) return new DiscoveryError('endpoint_unusable');
  const source = new URL(metadataUrl ?? issuer);
  const allowsHttp = source.protocol === 'http:' && (insecureHttp || isLoopback(url));
  if (url.protocol === 'http:' && !allowsHttp) return new DiscoveryError('endpoint_unusable');
  if (mayBeThisMachine(url) && !mayBeThisMachine(source)) {
    return new DiscoveryError('endpoint_on_this_machine');
  }
  const setsProtocolParameter = protocolParameters[name].some((parameter) => url.searchParams.has(parameter));
  return setsProtocolParameter ? new DiscoveryError('endpoint_parameter') : url.href;
}
