import assert from 'node:assert/strict';
import { RelayError } from '../../src/failures/relay-error.ts';
import { requireTokenOfAnyScheme } from '../../src/oauth/authorization-header.ts';
import { buildUserRequest } from '../../src/upstream/provider-endpoints.ts';
import { relayErrorOf } from './query.ts';

/** Fails if Authorization headers are read wrongly. Each character is a byte. */
export function checkAuthorization(values: readonly string[]): void {
  const token = relayErrorOf(() => requireTokenOfAnyScheme(values));
  const [value = ''] = values;
  const second = /^ *[^ ]+ +(?<token>[^ ]+)/.exec(value)?.groups?.['token'];
  if (token instanceof RelayError) {
    assert.equal(token.status, values.length > 1 ? 400 : 401);
    if (values.length === 1) assert.ok(second === undefined || /[^\x21-\x7e]/.test(second));
    return;
  }
  assert.equal(values.length, 1);
  assert.equal(token, second);
  assert.match(token, /^[\x21-\x7e]+$/);
  const { headers } = buildUserRequest({ userUrl: 'https://id.example/user' }, token);
  assert.deepEqual(headers, { authorization: `Bearer ${token}` });
}
