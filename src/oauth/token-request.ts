import type { ClientAuthentication, ExtraParameters, Provider } from '../providers/provider.ts';
import type { Secret } from '../secret.ts';
import { withParameters } from './query.ts';

/** The client as registered at the provider, and its token endpoint. */
export interface TokenEndpoint
  extends Pick<
    Provider,
    'tokenUrl' | 'clientAuthentication' | 'tokenParameters' | 'requestHeaders'
  > {
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly redirectUri: string;
}

/** An authorization code and what it takes to exchange it. */
export interface CodeGrant {
  readonly code: string;
  /** The PKCE verifier, if the authorization request had a challenge. @see RFC 7636 §4.5 */
  readonly codeVerifier: string | undefined;
}

/** A request to the token endpoint. */
export interface TokenEndpointRequest {
  readonly method: 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Builds the token request in the way that the provider takes it. @see RFC 6749 §4.1.3 */
export function tokenRequest(endpoint: TokenEndpoint, grant: CodeGrant): TokenEndpointRequest {
  return tokenRequests[endpoint.clientAuthentication](endpoint, grant);
}

const tokenRequests: Readonly<
  Record<ClientAuthentication, (endpoint: TokenEndpoint, grant: CodeGrant) => TokenEndpointRequest>
> = {
  query(endpoint, grant) {
    const parameters = { ...clientParameters(endpoint), ...grantParameters(endpoint, grant) };
    const { tokenUrl, requestHeaders: headers = {} } = endpoint;
    const url = withParameters(tokenUrl, withExtra(parameters, endpoint));
    return { method: 'POST', url, headers };
  },
  body(endpoint, grant) {
    const parameters = { ...clientParameters(endpoint), ...grantParameters(endpoint, grant) };
    return form(endpoint, {}, parameters);
  },
  basic(endpoint, grant) {
    const { client_id, client_secret } = clientParameters(endpoint);
    return withBasic(endpoint, grant, `${formEncode(client_id)}:${formEncode(client_secret)}`);
  },
  'basic-raw'(endpoint, grant) {
    const { client_id, client_secret } = clientParameters(endpoint);
    return withBasic(endpoint, grant, `${client_id}:${client_secret}`);
  },
};

/**
 * Whether `basic` and `basic-raw` differ for a client. If they do, a server may know only one of them:
 * many do not decode the credentials.
 *
 * @see RFC 6749 §2.3.1
 */
export function encodingChanges({
  clientId,
  clientSecret,
}: Pick<TokenEndpoint, 'clientId' | 'clientSecret'>): boolean {
  return [clientId, clientSecret.reveal()].some((value) => formEncode(value) !== value);
}

function withBasic(
  endpoint: TokenEndpoint,
  grant: CodeGrant,
  credentials: string,
): TokenEndpointRequest {
  const headers = { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
  return form(endpoint, headers, grantParameters(endpoint, grant));
}

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
  endpoint: TokenEndpoint,
  headers: Record<string, string>,
  parameters: Record<string, string>,
): TokenEndpointRequest {
  const { tokenUrl, requestHeaders } = endpoint;
  const fields = withExtra({ grant_type: 'authorization_code', ...parameters }, endpoint);
  return {
    method: 'POST',
    url: tokenUrl,
    headers: { ...requestHeaders, ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  };
}

function withExtra(
  parameters: Record<string, string>,
  { tokenParameters = [] }: TokenEndpoint,
): ExtraParameters {
  return [...Object.entries(parameters), ...tokenParameters];
}

/** @see RFC 6749 appendix B */
function formEncode(value: string): string {
  return new URLSearchParams([['', value]]).toString().slice(1);
}
