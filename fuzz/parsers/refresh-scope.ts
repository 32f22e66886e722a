import assert from 'node:assert/strict';
import { RelayError } from '../../src/errors.ts';
import { refreshScope, scopeForFrontEnd } from '../../src/oauth/scope.ts';
import { relayErrorOf } from './relay-error-of.ts';

/** Fails if a refresh requests more than the login has, or more than the front end has named. */
export function checkRefreshScope(asked: string | undefined, granted: string | undefined): void {
  checkToldScope(granted);
  const all = new Set(granted?.split(/[ ,]+/));
  const named = new Set(asked?.split(' '));
  const scope = relayErrorOf(() => refreshScope(asked, granted));
  if (scope instanceof RelayError) {
    assert.equal(scope.code, 'scope_refused');
    assert.ok(!named.isSubsetOf(all));
    return;
  }
  assert.ok(named.isSubsetOf(all));
  if (scope === undefined) {
    // The whole scope, without the words that concern only the relay.
    assert.ok(asked === undefined || all.difference(ofRelay).isSubsetOf(named));
  } else {
    const words = new Set(scope.split(' '));
    assert.ok(words.isSubsetOf(all));
    assert.ok(words.difference(ofRelay).isSubsetOf(named));
  }
}

function checkToldScope(granted: string | undefined): void {
  const told = new Set(scopeForFrontEnd(granted)?.split(' '));
  assert.ok(told.isDisjointFrom(ofRelay));
  assert.deepEqual(told, new Set(granted?.split(' ')).difference(ofRelay));
}

const ofRelay = new Set(['openid', 'offline_access']);
