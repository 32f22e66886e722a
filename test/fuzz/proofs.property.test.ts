import assert from 'node:assert/strict';
import fc, { type Arbitrary } from 'fast-check';
import { RelayError } from '../../src/errors.ts';
import { createNonces, createProofs } from '../../src/grants/proofs.ts';
import { makeProof, newProofKey, type ProofKey } from '../harness/client/proof.ts';

// make fuzz sets more.
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 1000);

const seconds = 1_800_000_000;
const now = () => seconds * 1000;
const url = 'https://login.example.com/auth/provider/token';
const nonces = createNonces([Buffer.alloc(32, 4)], now);
const nonce = nonces.current();

const unicode = fc.string({ unit: 'binary', maxLength: 60 }).map((text) => text.toWellFormed());
const base64url = fc
  .uint8Array({ maxLength: 80 })
  .map((bytes) => Buffer.from(bytes).toString('base64url'));
const encoded = (json: Arbitrary<unknown>) =>
  json.map((value) => Buffer.from(JSON.stringify(value) ?? '').toString('base64url'));
const parts = (...arbitraries: Arbitrary<string>[]) =>
  fc.tuple(...arbitraries).map((texts) => texts.join('.'));

/** Texts that look more and more like a JOSE object. */
const made = (header: Arbitrary<unknown>, content: Arbitrary<unknown>) =>
  fc.oneof(
    unicode,
    fc.array(base64url, { maxLength: 7 }).map((texts) => texts.join('.')),
    parts(encoded(header), base64url, base64url, base64url, base64url),
    parts(encoded(header), fc.constant(''), base64url, base64url, base64url),
    parts(encoded(header), encoded(content), base64url),
    parts(encoded(header), encoded(content), fc.constant('')),
  );

const refusals = new Set(['proof_invalid', 'nonce_required']);

async function thumbprintOf(proof: string): Promise<string | undefined> {
  try {
    return await createProofs({ now }).verify(proof, { method: 'POST', url, nonces });
  } catch (error) {
    assert.ok(error instanceof RelayError && refusals.has(error.code), String(error));
    return undefined;
  }
}

describe('with any input, a DPoP proof', () => {
  let key: ProofKey;
  let other: ProofKey;
  before('make keys', async () => {
    [key, other] = await Promise.all([newProofKey(), newProofKey('EdDSA')]);
  });

  it('without a valid signature is refused', async () => {
    const jwk = fc.oneof(
      fc.constantFrom(key.jwk, other.jwk),
      fc.record({ kty: fc.constantFrom('EC', 'OKP', 'oct', 'RSA', 'AKP'), x: base64url }),
      fc.jsonValue(),
    );
    const header = fc.oneof(
      fc.record({
        typ: fc.constant('dpop+jwt'),
        alg: fc.constantFrom('ES256', 'EdDSA', 'HS256', 'none', 'RS256', '__proto__'),
        jwk,
      }),
      fc.jsonValue(),
    );
    const claims = fc.oneof(
      fc.constant({ htm: 'POST', htu: url, iat: seconds, jti: '1', nonce }),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(made(header, claims), async (proof) => {
        assert.equal(await thumbprintOf(proof), undefined);
      }),
      { numRuns },
    );
  });

  it('that is signed yields its key, or is refused', async () => {
    const member = fc.oneof(fc.jsonValue(), unicode, fc.constant(undefined));
    const claims = fc.record(
      { htm: member, htu: member, iat: member, jti: member, exp: member, nonce: member },
      { requiredKeys: [] },
    );
    const jwk = fc
      .dictionary(fc.constantFrom('kty', 'crv', 'x', 'y', 'd', 'k', 'use', 'key_ops'), member)
      .map((changes) => ({ ...key.jwk, ...changes }));
    const header = fc.record({ typ: member, jwk, kid: member }, { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(header, claims, async (...[head, body]) => {
        const changes = { header: head, claims: { nonce, ...body } };
        const proof = await makeProof(key, url, seconds, changes);
        const thumbprint = await thumbprintOf(proof);
        if (thumbprint !== undefined) assert.equal(thumbprint, key.thumbprint);
        if (Object.keys(head).length + Object.keys(body).length === 0) assert.ok(thumbprint);
      }),
      { numRuns },
    );
  });
});
