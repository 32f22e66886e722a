import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { RelayError } from '../../src/errors.ts';
import { parseEndpointParameters } from '../../src/oauth/endpoint-parameters.ts';
import { relayErrorOf } from './relay-error-of.ts';

const names = [
  ...['client_id', 'code', 'code_verifier', 'grant_type', 'redirect_uri', 'refresh_token', 'scope'],
  ...['token', 'consent', 'decision'],
];

type Headers = Parameters<typeof parseEndpointParameters>[0];

/** Fails if the body of a token request is read wrongly. */
export function checkEndpointParameters(headers: Headers, body: Buffer): void {
  const read = relayErrorOf(() => parseEndpointParameters(headers, body));
  const type = headers['content-type']?.toLowerCase() ?? '';
  const isForm = /^\s*application\/x-www-form-urlencoded\s*(;|$)/.test(type);
  const isJson = /^\s*application\/json\s*(;|$)/.test(type);
  if (headers['content-encoding'] !== undefined || !(isForm || isJson)) {
    assert.ok(read instanceof RelayError);
    assert.equal(read.code, 'content_type_unsupported');
    return;
  }
  if (read instanceof RelayError) assert.equal(read.code, 'token_request_invalid');
  else {
    for (const [name, value] of Object.entries(read)) {
      assert.ok(names.includes(name) && value !== '' && value.isWellFormed());
    }
  }
  if (isForm) checkForm(read, body.toString('latin1'));
  else checkJson(read, body);
}

type Read = RelayError | ReturnType<typeof parseEndpointParameters>;

// An accepted body is read as browsers do. A refused one has a repeated parameter, or cannot be decoded.
function checkForm(read: Read, form: string): void {
  const reference = new URLSearchParams(`?${form}`);
  if (read instanceof RelayError) {
    const isRepeated = names.some((name) => reference.getAll(name).length > 1);
    assert.ok(isRepeated || /[^\x21-\x7e]|%/.test(form));
    return;
  }
  const values = new Map(Object.entries(read));
  for (const name of names) assert.equal(reference.getAll(name).join(), values.get(name) ?? '');
}

function checkJson(read: Read, body: Buffer): void {
  const given = isUtf8(body) ? jsonOf(body.toString()) : undefined;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    assert.ok(read instanceof RelayError);
    return;
  }
  const values = Object.entries(given).filter(([name, value]) => {
    return names.includes(name) && value !== '';
  });
  const isText = values.every(([, value]) => typeof value === 'string' && value.isWellFormed());
  if (isText) assert.deepEqual(read, Object.fromEntries(values));
  else assert.ok(read instanceof RelayError);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
