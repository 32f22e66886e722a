import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { exportJWK, type JWK } from 'jose';
import { RelayError } from '../../src/failures/relay-error.ts';
import { createNonces, createProofs, type Nonces } from '../../src/grants/dpop-proofs.ts';
import { makeProof, newProofKey, type ProofChanges, type ProofKey } from '../harness/client/proof.ts';
import { codeOf } from '../harness/expect/failure-code.ts';

const url = 'https://login.example.com/auth/provider/token';
const method = 'POST';
const seconds = 1_800_000_000;
const slot = 300;
const current = randomBytes(32);
const previous = randomBytes(32);

const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');

describe('a DPoP proof', () => {
  let key: ProofKey;
  let other: ProofKey;
  before('make keys', async () => {
    [key, other] = await Promise.all([newProofKey(), newProofKey()]);
  });

  let time: number;
  let proofs: ReturnType<typeof createProofs>;
  let nonces: Nonces;
  beforeEach(() => {
    time = seconds * 1000;
    proofs = createProofs({ now: () => time });
    nonces = createNonces([current], () => time);
  });

  /** A valid proof, with changes. */
  const prove = (by: ProofKey, at: string, iat: number, changes: ProofChanges = {}) =>
    makeProof(by, at, iat, { ...changes, claims: { nonce: nonces.current(), ...changes.claims } });

  /** @returns the thumbprint, or the code of the failure */
  async function verify(proof: string, address = url): Promise<string> {
    try {
      return await proofs.verify(proof, { method, url: address, nonces });
    } catch (error) {
      return codeOf(error);
    }
  }

  async function verifyWith(changes: ProofChanges, by = key): Promise<string> {
    return await verify(await prove(by, url, seconds, changes));
  }

  /** A test that a proof with these changes is refused. */
  const isRefused = (when: string, changes: () => ProofChanges | Promise<ProofChanges>) =>
    it(`is refused ${when}`, async () => {
      expect(await verifyWith(await changes())).to.equal('proof_invalid');
    });

  /** A test that a proof with these changes is accepted. */
  const isAccepted = (when: string, changes: () => ProofChanges) =>
    it(`is accepted ${when}`, async () => {
      expect(await verifyWith(changes())).to.equal(key.thumbprint);
    });

  for (const alg of ['ES256', 'EdDSA', 'Ed25519']) {
    it(`is accepted with ${alg}, and yields the thumbprint of its key`, async () => {
      const signer = await newProofKey(alg);
      expect(await verifyWith({}, signer)).to.equal(signer.thumbprint);
    });
  }

  for (const alg of ['ES384', 'ES512', 'RS256', 'PS256']) {
    it(`is refused with ${alg}`, async () => {
      expect(await verifyWith({}, await newProofKey(alg))).to.equal('proof_invalid');
    });
  }

  describe('that is altered', () => {
    isRefused('with another key than the one that signed it', () => ({
      header: { jwk: other.jwk },
    }));

    it('is refused if any byte is changed', async () => {
      const parts = (await prove(key, url, seconds)).split('.');
      for (const [index, part] of parts.entries()) {
        for (const position of Buffer.from(part, 'base64url').keys()) {
          const bytes = Buffer.from(part, 'base64url');
          bytes.writeUInt8(bytes.readUInt8(position) ^ (1 << (position % 8)), position);
          const altered = parts.with(index, bytes.toString('base64url')).join('.');
          const where = `part ${index}, byte ${position}`;
          expect(await verify(altered), where).to.equal('proof_invalid');
        }
      }
    });

    for (const [what, alter] of [
      ['empty', () => ''],
      ['without its signature', (proof: string) => proof.slice(0, proof.lastIndexOf('.') + 1)],
      ['cut after the claims', (proof: string) => proof.slice(0, proof.lastIndexOf('.'))],
      ['one of two in a header', (proof: string) => `${proof}, ${proof}`],
      ['followed by another part', (proof: string) => `${proof}.AAAA`],
      ['preceded by a scheme', (proof: string) => `DPoP ${proof}`],
      ['JSON', (proof: string) => JSON.stringify({ proof })],
      ['not ASCII', (proof: string) => `${proof}é`],
    ] as const) {
      it(`is refused if it is ${what}`, async () => {
        expect(await verify(alter(await prove(key, url, seconds)))).to.equal('proof_invalid');
      });
    }

    it('is refused beyond 4,096 characters, before it is read', async () => {
      const filled = (length: number) => prove(key, url, seconds, { claims: { filler: 'x'.repeat(length) } });
      const [fits, tooLong] = await Promise.all([filled(2550), filled(2790)]);
      expect(fits.length).to.be.within(3_800, 4_096);
      expect(tooLong.length).to.be.within(4_097, 4_300);
      expect(await verify(fits)).to.equal(key.thumbprint);
      expect(await verify(tooLong)).to.equal('proof_invalid');
    });
  });

  describe('without a valid signature', () => {
    const claims = { htm: method, htu: url, iat: seconds, jti: randomUUID() };

    for (const alg of ['none', 'None', '']) {
      it(`is refused with the algorithm "${alg}"`, async () => {
        const head = encode({ typ: 'dpop+jwt', alg, jwk: key.jwk });
        expect(await verify(`${head}.${encode(claims)}.`)).to.equal('proof_invalid');
        expect(await verify(`${head}.${encode(claims)}.AAAA`)).to.equal('proof_invalid');
      });
    }

    it('is refused with a symmetric key, which the header would show', async () => {
      const secret = Buffer.alloc(32, 1);
      for (const jwk of [{ kty: 'oct', k: secret.toString('base64url') }, key.jwk]) {
        const input = `${encode({ typ: 'dpop+jwt', alg: 'HS256', jwk })}.${encode(claims)}`;
        // In this attack, the public key is used as the secret.
        for (const by of [secret, JSON.stringify(key.jwk)]) {
          const signature = createHmac('sha256', by).update(input).digest('base64url');
          expect(await verify(`${input}.${signature}`)).to.equal('proof_invalid');
        }
      }
    });
  });

  describe('by its header', () => {
    for (const [what, header] of [
      ['no type', { typ: undefined }],
      ['another type', { typ: 'JWT' }],
      ['a type in capitals', { typ: 'DPOP+JWT' }],
      ['no key', { jwk: undefined }],
      ['a list as key', { jwk: [] }],
      ['a text as key', { jwk: 'key' }],
      ['null as key', { jwk: null }],
      ['an extension that must be understood', { crit: ['exp'], exp: seconds + 60 }],
      ['an unencoded payload', { crit: ['b64'], b64: false }],
    ] as const) {
      it(`is refused with ${what}`, async () => {
        const proof = await prove(key, url, seconds, { header }).catch(async () => {
          // The library refuses to sign some of them.
          const [, payload, signature] = (await prove(key, url, seconds)).split('.');
          const head = { typ: 'dpop+jwt', alg: key.alg, jwk: key.jwk, ...header };
          return `${encode(head)}.${payload}.${signature}`;
        });
        expect(await verify(proof)).to.equal('proof_invalid');
      });
    }

    isRefused('if its header contains the private key', async () => {
      const jwk = await exportJWK(key.privateKey);
      expect(jwk.d).to.be.a('string');
      return { header: { jwk } };
    });

    for (const member of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']) {
      for (const value of ['', null]) {
        isRefused(`if its key has the private member ${member}, even if it is ${value}`, () => ({
          header: { jwk: { ...key.jwk, [member]: value } },
        }));
      }
    }

    for (const [what, change] of [
      ['another curve', { crv: 'P-384' }],
      ['no curve', { crv: undefined }],
      ['another kind', { kty: 'OKP' }],
      ['the kind RSA', { kty: 'RSA', n: 'AQAB', e: 'AQAB' }],
      ['a number as kind', { kty: 7 }],
      ['a number as coordinate', { x: 7 }],
      ['a list as coordinate', { x: ['AQAB'] }],
      ['no coordinate', { y: undefined }],
      ['an empty coordinate', { y: '' }],
      ['a coordinate that is too short', { y: 'AQAB' }],
      ['a point that is not on the curve', { y: 'A'.repeat(43) }],
    ] as const) {
      isRefused(`if its key has ${what}`, () => ({ header: { jwk: { ...key.jwk, ...change } } }));
    }

    it('is refused if its key is spelled in another way, so that a key has one thumbprint', async () => {
      const last = key.jwk.x?.at(-1) ?? '';
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      const sameBits = alphabet[alphabet.indexOf(last) + 1];
      const spelled: JWK = { ...key.jwk, x: `${key.jwk.x?.slice(0, -1)}${sameBits}` };
      const bytes = (jwk: JWK) => Buffer.from(jwk.x ?? '', 'base64url');
      expect(bytes(spelled)).to.deep.equal(bytes(key.jwk));
      expect(await verifyWith({ header: { jwk: spelled } })).to.equal('proof_invalid');
    });

    isAccepted('with a key as browsers export it', () => {
      const exported = { ext: true, key_ops: ['verify'], use: 'sig', alg: 'ES256', kid: '1' };
      return { header: { jwk: { ...key.jwk, ...exported } } };
    });

    it('can name other keys and certificates, but only its jwk counts, and nothing is fetched', async () => {
      const x5 = { x5u: 'https://evil.example/certificate', x5c: ['AQAB'] };
      const header = { kid: 'another', jku: 'https://evil.example/keys', ...x5 };
      expect(await verifyWith({ header })).to.equal(key.thumbprint);
      expect(await verifyWith({ header: { jwk: { ...key.jwk, ...x5 } } })).to.equal(key.thumbprint);
    });
  });

  describe('by its claims', () => {
    for (const claim of ['htm', 'htu', 'iat', 'jti']) {
      it(`is refused without ${claim}, or if ${claim} has another type`, async () => {
        const strange = [undefined, null, true, [], {}, ...(claim === 'iat' ? ['1'] : [7, ''])];
        for (const value of strange) {
          expect(await verifyWith({ claims: { [claim]: value } })).to.equal('proof_invalid');
        }
      });
    }

    for (const htm of ['GET', 'post', 'POST ', 'OPTIONS']) {
      isRefused(`for the method "${htm}"`, () => ({ claims: { htm } }));
    }

    for (const htu of [
      'https://login.example.com/auth/provider/revoke',
      'https://login.example.com/auth/provider/token/',
      'https://login.example.com/auth/Provider/token',
      'https://login.example.com/auth/provider%2Ftoken',
      'https://login.example.com/',
      'http://login.example.com/auth/provider/token',
      'https://login.example.com:8443/auth/provider/token',
      'https://evil.example/auth/provider/token',
      'https://login.example.com.evil.example/auth/provider/token',
      'https://user@login.example.com/auth/provider/token',
      'blob:https://login.example.com/auth/provider/token',
      '/auth/provider/token',
      'not a URL',
    ]) {
      isRefused(`for the address ${htu}`, () => ({ claims: { htu } }));
    }

    for (const htu of [
      `${url}?grant_type=refresh_token`,
      `${url}#part`,
      `${url}?#`,
      'https://LOGIN.example.com/auth/provider/token',
      'HTTPS://login.example.com:443/auth/provider/token',
      'https://login.example.com/auth/x/../provider/token',
    ]) {
      isAccepted(`for the address ${htu}`, () => ({ claims: { htu } }));
    }

    it('is accepted if the relay is under a path, and on another port', async () => {
      const address = 'http://localhost:8000/login/auth/provider/token';
      const proof = await prove(key, address, seconds);
      expect(await verify(proof, address)).to.equal(key.thumbprint);
    });

    for (const offset of [-60, -59.5, 0, 59.5, 60]) {
      isAccepted(`${offset} seconds from now`, () => ({ claims: { iat: seconds + offset } }));
    }

    for (const offset of [-1e15, -3600, -61, -60.1, 60.1, 61, 3600, 1e300]) {
      isRefused(`${offset} seconds from now`, () => ({ claims: { iat: seconds + offset } }));
    }

    isRefused('after its exp', () => ({ claims: { exp: seconds } }));
    isRefused('before its nbf', () => ({ claims: { nbf: seconds + 1 } }));

    isAccepted('with a jti of 256 characters', () => ({ claims: { jti: 'x'.repeat(256) } }));
    isRefused('with a longer jti', () => ({ claims: { jti: 'x'.repeat(257) } }));
  });

  describe('that is repeated', () => {
    it('is refused', async () => {
      const proof = await prove(key, url, seconds);
      expect(await verify(proof)).to.equal(key.thumbprint);
      expect(await verify(proof)).to.equal('proof_invalid');
    });

    it('is refused in another spelling, and with another signature', async () => {
      const claims = { jti: 'one of a kind' };
      const proof = await prove(key, url, seconds, { claims });
      expect(await verify(proof)).to.equal(key.thumbprint);
      // ECDSA signatures differ each time.
      expect(await verifyWith({ claims })).to.equal('proof_invalid');
      const later = { claims: { ...claims, iat: seconds + 1 } };
      expect(await verifyWith(later)).to.equal('proof_invalid');
    });

    it('is accepted once if it is sent twice at once', async () => {
      const proof = await prove(key, url, seconds);
      const results = await Promise.all([verify(proof), verify(proof), verify(proof)]);
      const once = [key.thumbprint, 'proof_invalid', 'proof_invalid'];
      expect(results).to.have.members(once);
    });

    it('is refused as long as its iat is valid', async () => {
      const proof = await prove(key, url, seconds + 60);
      expect(await verify(proof)).to.equal(key.thumbprint);
      time += 120_000;
      expect(await verify(proof)).to.equal('proof_invalid');
      // The iat is still valid, so another proof with this iat is accepted.
      expect(await verify(await prove(key, url, seconds + 60))).to.equal(key.thumbprint);
    });

    it('does not affect another key with the same jti', async () => {
      const claims = { jti: 'the same' };
      expect(await verifyWith({ claims })).to.equal(key.thumbprint);
      expect(await verifyWith({ claims }, other)).to.equal(other.thumbprint);
    });

    it('is accepted if an earlier proof with the same jti was refused', async () => {
      const claims = { jti: 'the same' };
      expect(await verifyWith({ claims: { ...claims, htm: 'GET' } })).to.equal('proof_invalid');
      expect(await verifyWith({ claims })).to.equal(key.thumbprint);
    });
  });

  describe('by its nonce', () => {
    it('is refused without a nonce, with a wrong nonce, and with an altered nonce', async () => {
      const nonce = nonces.current();
      for (const other of [undefined, '', 'x', nonce.slice(1), `${nonce}A`, 'x'.repeat(43)]) {
        expect(await verifyWith({ claims: { nonce: other } })).to.equal('nonce_required');
      }
      expect(await verifyWith({ claims: { nonce: 7 } })).to.equal('proof_invalid');
    });

    it('is refused if it was signed in advance, even right after the page was left', async () => {
      const proof = await prove(key, url, seconds + 28_800);
      time += 28_800_000;
      expect(await verify(proof)).to.equal('nonce_required');
    });

    it('is accepted with a nonce of the present or the previous slot of five minutes', async () => {
      const nonce = nonces.current();
      const at = async (later: number) => {
        time = (seconds + later) * 1000;
        return await verify(await prove(key, url, seconds + later, { claims: { nonce } }));
      };
      expect(await at(2 * slot - 1)).to.equal(key.thumbprint);
      expect(await at(2 * slot)).to.equal('nonce_required');
      expect(await at(-1)).to.equal('nonce_required');
    });

    it('can be used at every relay with this key, even while the key is replaced', async () => {
      const nonce = createNonces([previous], () => time).current();
      expect(await verifyWith({ claims: { nonce } })).to.equal('nonce_required');
      nonces = createNonces([current, previous], () => time);
      expect(await verifyWith({ claims: { nonce } })).to.equal(key.thumbprint);
      expect(nonces.current()).not.to.equal(nonce);
    });

    it('gets the nonce to use, and the refused proof does not count as used', async () => {
      const claims = { jti: 'the same', nonce: undefined };
      const proof = await prove(key, url, seconds, { claims });
      const refused: unknown = await proofs.verify(proof, { method, url, nonces }).catch((e) => e);
      if (!(refused instanceof RelayError)) throw refused;
      const nonce = refused.headers['DPoP-Nonce'];
      expect(await verifyWith({ claims: { ...claims, nonce } })).to.equal(key.thumbprint);
    });

    it('gets the nonce even if the clock of the device is wrong, because the answer has the time', async () => {
      expect(await verifyWith({ claims: { nonce: undefined, iat: 0 } })).to.equal('nonce_required');
    });
  });

  it('is not remembered if its request is not accepted, because one login must not fill the memory of all', async () => {
    const proof = await prove(key, url, seconds);
    let most = 0;
    const accept = (thumbprint: string) => {
      expect(thumbprint).to.equal(key.thumbprint);
      if (most === 0) throw new RelayError('rate_limited');
    };
    const once = () => proofs.verify(proof, { method, url, nonces, accept }).catch(codeOf);
    expect([await once(), await once()]).to.deep.equal(['rate_limited', 'rate_limited']);
    most = 1;
    expect([await once(), await once()]).to.deep.equal([key.thumbprint, 'proof_invalid']);
  });

  it('that is refused yields a reason that does not quote it', async () => {
    const details = await Promise.all(
      [{ htm: 'PUT' }, { iat: seconds - 3600 }, { jti: '' }].map(async (claims) => {
        const proof = await prove(key, url, seconds, { claims });
        const error: unknown = await proofs.verify(proof, { method, url, nonces }).catch((e) => e);
        return error instanceof RelayError ? error.detail : '';
      }),
    );
    expect(details[0]).to.contain(`POST ${url}`);
    expect(details[1]).to.contain('clock');
    expect(new Set(details).size).to.equal(3);
    expect(details.join()).not.to.match(/PUT|1799996400/);
  });
});
