import { RelayError } from '../errors.ts';
import type { TokenRequest } from '../providers/provider.ts';
import type { Secret } from '../secret.ts';
import { isAccessToken } from './access-token.ts';
import { parseJsonObject } from './json.ts';
import type {
  ObserveCall,
  ProviderAnswer,
  ProviderClient,
  ProviderRequest,
} from './provider-client.ts';

/** The client, as registered at the provider, and where its codes are exchanged. */
export interface TokenEndpoint {
  readonly tokenUrl: string;
  readonly tokenRequest: TokenRequest;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly redirectUri: string;
}

/**
 * Exchanges an authorization code for an access token.
 *
 * @throws {RelayError} `token_refused`, `token_missing`, or why the call itself failed
 * @see RFC 6749 §4.1.3
 */
export async function exchangeCode(
  client: ProviderClient,
  endpoint: TokenEndpoint,
  code: string,
  observe: ObserveCall,
): Promise<string> {
  return parseTokenResponse(
    await client.call(tokenRequests[endpoint.tokenRequest](endpoint, code), observe),
  );
}

const tokenRequests: Readonly<
  Record<TokenRequest, (endpoint: TokenEndpoint, code: string) => ProviderRequest>
> = {
  query({ tokenUrl, clientId, clientSecret, redirectUri }, code) {
    const url = new URL(tokenUrl);
    url.searchParams.set('client_id', clientId);
    url.searchParams.set('client_secret', clientSecret.reveal());
    url.searchParams.set('code', code);
    url.searchParams.set('redirect_uri', redirectUri);
    return { endpoint: 'token', method: 'POST', url, headers: {} };
  },
  body({ tokenUrl, clientId, clientSecret, redirectUri }, code) {
    return form(
      tokenUrl,
      {},
      {
        grant_type: 'authorization_code',
        client_id: clientId,
        client_secret: clientSecret.reveal(),
        code,
        redirect_uri: redirectUri,
      },
    );
  },
  basic({ tokenUrl, clientId, clientSecret, redirectUri }, code) {
    // RFC 6749 §2.3.1: both are form-encoded before they become user name and password.
    const credentials = `${formEncode(clientId)}:${formEncode(clientSecret.reveal())}`;
    return form(
      tokenUrl,
      { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
      {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
      },
    );
  },
};

function form(
  url: string,
  headers: Record<string, string>,
  parameters: Record<string, string>,
): ProviderRequest {
  return {
    endpoint: 'token',
    method: 'POST',
    url,
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(parameters).toString(),
  };
}

/** @see RFC 6749 appendix B */
function formEncode(value: string): string {
  return new URLSearchParams([['', value]]).toString().slice(1);
}

/** @see RFC 6749 §5.1; some providers answer 200 with an `error` in place of the token */
function parseTokenResponse({ status, body }: ProviderAnswer): string {
  if (status !== 200) throw new RelayError('token_refused');
  const token = parseJsonObject(body)?.['access_token'];
  if (!isAccessToken(token)) throw new RelayError('token_missing');
  return token;
}
