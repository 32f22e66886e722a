import assert from 'node:assert/strict';
import { RelayError } from '../../src/failures/relay-error.ts';
import { requireCode } from '../../src/oauth/authorization-response.ts';
import { parseQuery, type Query } from '../../src/oauth/query.ts';
import { buildTokenRequest } from '../../src/oauth/token-request.ts';
import { Secret } from '../../src/sealing/secret.ts';

const issuer = 'https://id.example';
const endpoint = {
  authorizeUrl: 'https://id.example/authorize',
  tokenUrl: 'https://id.example/token?kept=1',
  userUrl: 'https://id.example/user',
  pkce: true,
  tokenRequest: 'query',
  clientId: 'client-1',
  clientSecret: new Secret('secret-1'),
  callbackUri: 'https://relay.example/auth/provider/callback',
} as const;

/** Fails if the query of a callback is read wrongly. Each character is a byte. */
export function checkQuery(query: string): void {
  checkDecoding(query);
  for (const issRequired of [false, true]) checkCode(parseQuery(query), issRequired);
}

// An exactly decodable query is decoded as in browsers.
function checkDecoding(query: string): void {
  const parsed = Object.entries(parseQuery(query)).map(
    ([name, values]) => [name, typeof values === 'string' ? [values] : (values ?? [])] as const,
  );
  if (parsed.some(([name]) => !name.isWellFormed())) return;
  const reference = new URLSearchParams(`?${query}`);
  for (const [name, values] of parsed) {
    if (!values.every((value) => value.isWellFormed())) continue;
    assert.deepEqual(values, reference.getAll(name));
  }
}

function checkCode(query: Query, issRequired: boolean): void {
  const code = relayErrorOf(() => requireCode(query, { issuer, issRequired }));
  if (code instanceof RelayError) {
    assert.equal(code.status, 400);
    return;
  }
  assert.equal(query['error'], undefined);
  const { iss } = query;
  assert.ok(iss === issuer || (iss === undefined && !issRequired));
  assert.ok(code.length > 0 && code.length <= 4096);
  const { url } = buildTokenRequest(endpoint, { code, codeVerifier: undefined });
  assert.equal(new URL(url).searchParams.get('code'), code);
  assert.equal(new URL(url).host, 'id.example');
}

/** The result of the function, or its RelayError. Any other error is thrown again. */
export function relayErrorOf<Value>(read: () => Value): Value | RelayError {
  try {
    return read();
  } catch (error) {
    if (error instanceof RelayError) return error;
    throw error;
  }
}
