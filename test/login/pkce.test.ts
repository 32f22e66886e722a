import { hash, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { deriveCodeChallenge, deriveLoginParts } from '../../src/login/pkce.ts';

describe('PKCE', () => {
  it('makes the S256 challenge of RFC 7636 appendix B', () => {
    expect(deriveCodeChallenge('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).to.equal(
      'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    );
  });

  it('derives an id of 16 bytes, a verifier of 43 characters and a nonce of 22 only from the secret of the browser', () => {
    const one = randomBytes(32);
    const other = randomBytes(32);
    const { id, codeVerifier, nonce } = deriveLoginParts(one);
    expect(id).to.have.lengthOf(16);
    expect(codeVerifier).to.match(/^[\w-]{43}$/);
    expect(deriveLoginParts(Buffer.from(one))).to.deep.equal({ id, codeVerifier, nonce });
    expect(nonce).to.match(/^[\w-]{22}$/);
    expect(codeVerifier).not.to.contain(nonce);
    expect(deriveLoginParts(other).nonce).to.not.equal(nonce);
    expect(deriveLoginParts(other).id.equals(id)).to.equal(false);
    expect(deriveLoginParts(other).codeVerifier).to.not.equal(codeVerifier);
    const ofSecret = [one.toString('base64url'), hash('sha256', one, 'base64url')];
    expect(ofSecret).to.not.include(codeVerifier);
  });
});
