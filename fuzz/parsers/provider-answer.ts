import assert from 'node:assert/strict';
import { RelayError } from '../../src/failures/relay-error.ts';
import { DiscoveryError } from '../../src/oauth/metadata.ts';
import { Secret } from '../../src/sealing/secret.ts';
import type { UpstreamClient } from '../../src/upstream/client.ts';
import { discoverProvider } from '../../src/upstream/discovery.ts';
import { createProviderEndpoints } from '../../src/upstream/provider-endpoints.ts';

const issuer = 'https://id.example';
const endpoint = {
  authorizeUrl: `${issuer}/authorize`,
  tokenUrl: `${issuer}/token`,
  pkce: true,
  tokenRequest: 'query',
  clientId: 'client-1',
  clientSecret: new Secret('secret-1'),
  callbackUri: 'https://relay.example/auth/provider/callback',
  userUrl: `${issuer}/user`,
  userRejectedWhen: { field: 'ok', equals: false },
  revocation: { url: `${issuer}/revoke`, request: 'rfc7009' },
} as const;
const grant = { code: 'code', codeVerifier: undefined };

type Endpoints = ReturnType<typeof createProviderEndpoints>;

/** Fails if the body of a provider's 200 is read wrongly. */
export async function checkProviderAnswer(body: Uint8Array): Promise<void> {
  const client: UpstreamClient = {
    call: async () => ({ status: 200, headers: {}, body }),
    stream() {
      throw new Error('not used');
    },
    expectRoom() {},
    inFlight: () => 0,
    close() {},
  };
  const endpoints = createProviderEndpoints(client, endpoint);
  await checkToken(endpoints, body);
  await checkRefresh(endpoints);
  // A 200 with any body means that the token is revoked.
  await endpoints.revokeToken({ refreshToken: 'a' }, () => {});
  await checkUser(endpoints, body);
  await checkMetadata(client);
}

async function checkToken(endpoints: Endpoints, body: Uint8Array): Promise<void> {
  const token = await outcomeOf(endpoints.requestToken(grant, () => {}));
  assert.ok(!(token instanceof DiscoveryError));
  if (token instanceof RelayError) {
    assert.equal(token.status, 400);
    assert.match(token.detail, /^The access token is empty: /);
    return;
  }
  const { accessToken } = token;
  assert.ok(accessToken !== '' && accessToken.isWellFormed());
  assert.deepEqual(tokensIn(body), [accessToken]);
}

/** The access tokens of an answer, as other readers find them. A `TextDecoder` skips a byte order mark. */
function tokensIn(body: Uint8Array): unknown[] {
  const text = new TextDecoder().decode(body);
  try {
    return [JSON.parse(text).access_token];
  } catch {
    return new URLSearchParams(text.trim()).getAll('access_token');
  }
}

const refreshFailures: ReadonlySet<string> = new Set([
  'client_refused',
  'refresh_refused',
  'scope_refused',
  'token_endpoint_failed',
  'token_missing',
]);

async function checkRefresh(endpoints: Endpoints): Promise<void> {
  const token = await outcomeOf(endpoints.requestToken({ refreshToken: 'a' }, () => {}));
  assert.ok(!(token instanceof DiscoveryError));
  if (token instanceof RelayError) {
    assert.ok(refreshFailures.has(token.code), token.code);
    return;
  }
  for (const text of [token.accessToken, token.refreshToken ?? 'a', token.scope ?? 'a']) {
    assert.ok(text !== '' && text.isWellFormed());
  }
  for (const seconds of [token.expiresIn ?? 0, token.refreshExpiresIn ?? 0]) {
    assert.ok(Number.isSafeInteger(seconds) && seconds >= 0);
  }
}

async function checkUser(endpoints: Endpoints, body: Uint8Array): Promise<void> {
  const record = await outcomeOf(endpoints.lookUpUser('token', () => {}));
  assert.ok(!(record instanceof DiscoveryError));
  if (record instanceof RelayError) {
    assert.ok(record.code === 'provider_answer_unusable' || record.code === 'token_invalid');
    return;
  }
  assert.equal(record.body, body);
  assert.match(Buffer.from(record.body).toString(), /^\s*\{.*\}\s*$/s);
}

async function checkMetadata(client: UpstreamClient): Promise<void> {
  const source = { issuer, clientId: 'client-1', given: {}, insecureHttp: false, encodingChanges: false };
  const provider = await outcomeOf(discoverProvider(client, source));
  if (provider instanceof DiscoveryError) return;
  assert.ok(!(provider instanceof RelayError));
  assert.equal(provider.issuer, issuer);
  const revocationUrl = provider.revocation?.url ?? provider.tokenUrl;
  for (const url of [provider.authorizeUrl, provider.tokenUrl, provider.userUrl ?? '', revocationUrl]) {
    assert.match(url, /^https:\/\/[^/@]+/);
    assert.doesNotMatch(url, /^https:\/\/(localhost|127\.|\[::1\]|[^/@]+\.localhost)/);
  }
}

async function outcomeOf<Value>(outcome: Promise<Value>): Promise<Value | RelayError | DiscoveryError> {
  try {
    return await outcome;
  } catch (error) {
    if (error instanceof RelayError || error instanceof DiscoveryError) return error;
    throw error;
  }
}
