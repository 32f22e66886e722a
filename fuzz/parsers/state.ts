import assert from 'node:assert/strict';
import { idAndVerifierOf } from '../../src/login/pkce.ts';
import { createStates } from '../../src/login/state.ts';

const states = createStates(
  [Buffer.alloc(32, 1), Buffer.alloc(32, 3)],
  () => 'provider https://id.example - client-1',
  'https://relay.example/auth/provider/callback',
);

/** Fails if a made-up state is accepted. */
export function checkState(text: string): void {
  assert.equal(states.open(text), undefined);
}

/** Fails if a sealed state is read wrongly, or is accepted after a change. */
export function checkSealed(ownState: string, issuedAt: number, flipped: number): void {
  const { id } = idAndVerifierOf(Buffer.alloc(32, flipped));
  const redirectUri = 'https://app.example/signed-in';
  const request = {
    ...(ownState !== '' && { state: ownState }),
    ...(flipped % 2 === 0 && { oauth: { redirectUri, codeChallenge: 'c'.repeat(43) } }),
    ...(flipped % 3 === 0 && { returnTo: 'https://app.example/page' }),
  };
  const login = { id, issuedAt, frontEnd: 'app', request };
  const sealed = states.seal(login);
  assert.deepEqual(states.open(sealed), login);

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
