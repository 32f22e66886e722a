import { hash, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { codeChallenge, idAndVerifierOf } from '../../src/login/pkce.ts';

describe('PKCE', () => {
  it('makes the S256 challenge of RFC 7636 appendix B', () => {
    expect(codeChallenge('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).to.equal(
      'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    );
  });

  it('derives an id of 16 bytes and a verifier of 43 characters from the secret of the browser alone', () => {
    const [one, other] = [randomBytes(32), randomBytes(32)];
    const { id, codeVerifier } = idAndVerifierOf(one);
    expect(id).to.have.lengthOf(16);
    expect(codeVerifier).to.match(/^[\w-]{43}$/);
    expect(idAndVerifierOf(Buffer.from(one))).to.deep.equal({ id, codeVerifier });
    expect(idAndVerifierOf(other).id.equals(id)).to.equal(false);
    expect(idAndVerifierOf(other).codeVerifier).to.not.equal(codeVerifier);
    const ofSecret = [one.toString('base64url'), hash('sha256', one, 'base64url')];
    expect(ofSecret).to.not.include(codeVerifier);
  });
});
