import { limits } from '../limits.ts';
import { parseJsonObject } from '../oauth/json.ts';
import { withParameters } from '../oauth/query.ts';
import { tokenError } from '../oauth/token-error.ts';
import type { Provider, TokenRequest } from '../providers/provider.ts';
import type { Secret } from '../secret.ts';
import type { ObserveCall, ProviderAnswer, ProviderClient, ProviderRequest } from './client.ts';

/** The client, as registered at the provider, and where its codes are exchanged. */
export interface TokenEndpoint
  extends Pick<Provider, 'tokenUrl' | 'tokenRequest' | 'requestHeaders'> {
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly redirectUri: string;
}

/** What is exchanged for a token. */
export interface CodeGrant {
  readonly code: string;
  /** The PKCE verifier, where the authorization request carried a challenge. @see RFC 7636 §4.5 */
  readonly codeVerifier: string | undefined;
}

/**
 * Exchanges an authorization code for an access token.
 *
 * @throws {RelayError} why there is no token ({@link tokenError}), or why the call itself failed
 * @see RFC 6749 §4.1.3
 */
export async function exchangeCode(
  client: ProviderClient,
  endpoint: TokenEndpoint,
  grant: CodeGrant,
  observe: ObserveCall,
): Promise<string> {
  return parseTokenResponse(await client.call(tokenRequest(endpoint, grant), observe));
}

/** The token request, in the way that the provider takes it. */
export function tokenRequest(endpoint: TokenEndpoint, grant: CodeGrant): ProviderRequest {
  return tokenRequests[endpoint.tokenRequest](endpoint, grant);
}

const tokenRequests: Readonly<
  Record<TokenRequest, (endpoint: TokenEndpoint, grant: CodeGrant) => ProviderRequest>
> = {
  query(endpoint, grant) {
    const parameters = { ...clientParameters(endpoint), ...grantParameters(endpoint, grant) };
    const { tokenUrl, requestHeaders: headers = {} } = endpoint;
    const url = withParameters(tokenUrl, parameters);
    return { endpoint: 'token', method: 'POST', url, headers };
  },
  body(endpoint, grant) {
    const parameters = { ...clientParameters(endpoint), ...grantParameters(endpoint, grant) };
    return form(endpoint, {}, parameters);
  },
  basic(endpoint, grant) {
    // RFC 6749 §2.3.1: both are form-encoded before they become user name and password.
    const { client_id, client_secret } = clientParameters(endpoint);
    const credentials = Buffer.from(`${formEncode(client_id)}:${formEncode(client_secret)}`);
    const headers = { authorization: `Basic ${credentials.toString('base64')}` };
    return form(endpoint, headers, grantParameters(endpoint, grant));
  },
};

function clientParameters({ clientId, clientSecret }: TokenEndpoint) {
  return { client_id: clientId, client_secret: clientSecret.reveal() };
}

function grantParameters({ redirectUri }: TokenEndpoint, { code, codeVerifier }: CodeGrant) {
  return {
    code,
    redirect_uri: redirectUri,
    ...(codeVerifier !== undefined && { code_verifier: codeVerifier }),
  };
}

function form(
  { tokenUrl, requestHeaders }: TokenEndpoint,
  headers: Record<string, string>,
  parameters: Record<string, string>,
): ProviderRequest {
  return {
    endpoint: 'token',
    method: 'POST',
    url: tokenUrl,
    headers: { ...requestHeaders, ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'authorization_code', ...parameters }).toString(),
  };
}

/** @see RFC 6749 appendix B */
function formEncode(value: string): string {
  return new URLSearchParams([['', value]]).toString().slice(1);
}

/** @see RFC 6749 §5.1 */
function parseTokenResponse(answer: ProviderAnswer): string {
  const token = answer.status === 200 ? parseJsonObject(answer.body)?.['access_token'] : undefined;
  if (isAccessToken(token)) return token;
  throw tokenError(answer);
}

/** A token is opaque: any text that a redirect can carry exactly. @see RFC 6749 §1.4 */
function isAccessToken(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.isWellFormed() &&
    Buffer.byteLength(value) <= limits.accessTokenSize
  );
}
