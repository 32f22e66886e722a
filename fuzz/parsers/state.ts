import assert from 'node:assert/strict';
import { createStateSigner, parseState } from '../../src/login/state.ts';

const browserSecret = Buffer.alloc(32, 2);
const signer = createStateSigner([Buffer.alloc(32, 1), Buffer.alloc(32, 3)], {
  clientId: 'client-1',
  redirectUri: 'https://relay.example/auth/provider/callback',
});

/** Fails if a made-up state is accepted, or if a state is parsed wrongly. */
export function checkState(text: string): void {
  const state = parseState(text);
  if (state === undefined) return;
  const { login, payload, mac } = state;
  assert.equal(Buffer.concat([payload, mac]).toString('base64url'), text);
  assert.equal(login.id.length, 16);
  assert.equal(login.request.state?.isWellFormed() ?? true, true);
  assert.equal(signer.verify(state, browserSecret), false);
}

/** Fails if a signed state is read wrongly, or is accepted after a change. */
export function checkSealed(ownState: string, issuedAt: number, flipped: number): void {
  const id = Buffer.alloc(16, flipped);
  const redirectUri = 'https://app.example/signed-in';
  const oauth = flipped % 2 === 0 ? { redirectUri, codeChallenge: 'c'.repeat(43) } : undefined;
  const returnTo = flipped % 3 === 0 ? 'https://app.example/page' : undefined;
  const request = { state: ownState || undefined, oauth, returnTo };
  const login = { id, issuedAt, registration: 'provider', frontEnd: 'app', request };
  const sealed = signer.sign(login, browserSecret);
  const state = parseState(sealed);
  assert.ok(state);
  assert.deepEqual(state.login, login);
  assert.equal(signer.verify(state, browserSecret), true);
  assert.equal(signer.verify(state, Buffer.alloc(32, 4)), false);

  const bytes = Buffer.from(sealed, 'base64url');
  const position = flipped % bytes.length;
  bytes.writeUInt8(bytes.readUInt8(position) ^ (1 << (flipped & 7)), position);
  checkState(bytes.toString('base64url'));
}

export function fuzz(data: Buffer): void {
  checkState(data.toString('latin1'));
  checkState(data.toString('base64url'));
  const text = data.subarray(6).toString();
  if ([...text].length > 512) return;
  checkSealed(text, data.length >= 4 ? data.readUInt32BE(0) : 0, data[4] ?? 0);
}
