import assert from 'node:assert/strict';
import { addressAt } from '../../src/delivery/delivery.ts';
import { type FailureCode, RelayError } from '../../src/errors.ts';
import { parseQuery, type Query } from '../../src/oauth/query.ts';
import { narrowedScope } from '../../src/oauth/scope.ts';
import {
  codeChallengeOf,
  frontEndState,
  pageToReturnTo,
  registeredRedirectUri,
} from '../../src/oauth/start-parameters.ts';
import { relayErrorOf } from './relay-error-of.ts';

/** What is configured for a front end. */
export interface Configured {
  /** As the URL parser writes them. */
  readonly redirectUris: readonly string[];
  readonly scope: string | undefined;
}

/** Fails where the query of an OAuth request, a character a byte, is not read as it has to be. */
export function checkFrontEndRequest(text: string, { redirectUris, scope }: Configured): void {
  const query = parseQuery(text);
  checkChallenge(query);
  checkScope(query, scope);
  checkReturnTo(query);
  const state = relayErrorOf(() => frontEndState(query));
  checkRedirectUri(query, redirectUris, state instanceof RelayError ? undefined : state);
  if (state instanceof RelayError) assert.equal(state.code, 'front_end_state_unusable');
  else if (state !== undefined) {
    assert.equal(state, query['state']);
    assert.ok([...state].length <= 512);
  }
}

/** A session begins at a page of its front end, written as the URL parser does. */
function checkReturnTo(query: Query): void {
  const origin = 'https://app.example';
  const page = relayErrorOf(() => pageToReturnTo(query, origin));
  if (page instanceof RelayError) {
    assert.equal(page.code, 'return_to_invalid');
    return;
  }
  if (page === undefined) {
    assert.ok(!query['return_to']);
    return;
  }
  const url = new URL(page);
  assert.equal(url.href, page);
  assert.equal(url.origin, origin);
  assert.equal(url.username + url.password, '');
  assert.ok(page.startsWith(`${origin}/`));
  assert.match(page, /^[\x21-\x7e]{1,2048}$/);
}

/** A redirect URI is used only as it is registered, and only if it is what the request names. */
function checkRedirectUri(query: Query, registered: readonly string[], state?: string): void {
  const found = relayErrorOf(() => registeredRedirectUri(query, registered));
  const given = query['redirect_uri'];
  if (found instanceof RelayError) {
    assert.equal(found.code, 'redirect_uri_unknown');
    assert.ok(typeof given !== 'string' || !registered.some((uri) => isPageOf(uri, given)));
    return;
  }
  assert.ok(registered.some((uri) => isPageOf(uri, found)));
  if (given === undefined || given === '') assert.equal(registered.length, 1);
  else assert.equal(new URL(String(given)).href, found);

  const parameters = { code: 'code', state, iss: 'https://relay.example/auth/provider' };
  const location = addressAt({ url: found, part: 'query', parameters }, {});
  assert.ok(location.startsWith(`${found}${found.includes('?') ? '&' : '?'}code=code&`));
  assert.match(location, /^[\x21-\x7e]+$/);
  const { hash, searchParams } = new URL(location);
  assert.equal(hash, '');
  assert.deepEqual(searchParams.getAll('state'), state === undefined ? [] : [state]);
  assert.deepEqual(searchParams.getAll('iss'), [parameters.iss]);
}

/** Whether an address is the registered one, or has one label in place of its `*`. */
function isPageOf(uri: string, address: string): boolean {
  const [before = '', after] = uri.split('*');
  if (after === undefined) return address === uri;
  const label = address.slice(before.length, -after.length);
  return /^[a-z0-9]+(-+[a-z0-9]+)*$/.test(label) && address === before + label + after;
}

function checkChallenge(query: Query): void {
  const challenge = relayErrorOf(() => codeChallengeOf(query));
  if (challenge instanceof RelayError) {
    const codes: FailureCode[] = ['request_invalid', 'response_type_unsupported'];
    assert.ok(codes.includes(challenge.code));
    return;
  }
  assert.equal(query['response_type'], 'code');
  assert.equal(query['code_challenge_method'], 'S256');
  assert.equal(query['code_challenge'], challenge);
  assert.equal(query['response_mode'] ?? 'query', 'query');
  assert.equal(Buffer.from(challenge, 'base64url').length, 32);
  assert.match(challenge, /^[\w-]{43}$/);
}

function checkScope(query: Query, configured: string | undefined): void {
  const narrowed = relayErrorOf(() => narrowedScope(query, configured));
  const { scope } = query;
  const isAbsent = scope === undefined || scope === '';
  if (narrowed instanceof RelayError) {
    assert.equal(narrowed.code, 'scope_refused');
    assert.ok(!isAbsent && scope !== configured);
  } else if (narrowed === undefined) assert.ok(isAbsent);
  else {
    const words = new Set(narrowed.split(' ').filter((word) => word !== ''));
    const all = new Set(configured?.split(' '));
    const asked = new Set(String(scope).split(' '));
    assert.ok(words.isSubsetOf(all) && asked.isSubsetOf(all));
    // The relay may need openid itself.
    assert.ok(words.isSubsetOf(asked.add('openid')));
  }
}
