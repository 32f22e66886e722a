import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { codeChallenge, codeVerifier } from '../../src/login/pkce.ts';

describe('PKCE', () => {
  it('makes the S256 challenge of RFC 7636 appendix B', () => {
    expect(codeChallenge('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).to.equal(
      'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    );
  });

  it('derives the same verifier of 43 characters from the same login', () => {
    const [secret, id] = [randomBytes(32), randomBytes(16)];
    const verifier = codeVerifier(secret, id);
    expect(verifier).to.match(/^[\w-]{43}$/);
    expect(codeVerifier(Buffer.from(secret), Buffer.from(id))).to.equal(verifier);
  });

  it('derives another verifier from another browser secret or another transaction', () => {
    const [secret, id] = [randomBytes(32), randomBytes(16)];
    const verifiers = [
      codeVerifier(secret, id),
      codeVerifier(randomBytes(32), id),
      codeVerifier(secret, randomBytes(16)),
    ];
    expect(new Set(verifiers).size).to.equal(3);
  });
});
