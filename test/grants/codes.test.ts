import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type CodeContent, type Codes, createCodes } from '../../src/grants/codes.ts';
import { createRefreshTokens } from '../../src/grants/refresh-tokens.ts';
import type { KeyRing } from '../../src/keys.ts';

const keys: KeyRing = [randomBytes(32)];
const registration = () => 'provider https://id.example - client-1';
const frontEnd = 'app https://app.example';
const content: CodeContent = {
  redirectUri: 'https://app.example/signed-in?kept=1',
  codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  providerCode: 'the provider’s code',
  codeVerifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
};

describe('a code of the relay', () => {
  let time: number;
  let codes: Codes;
  const create = (by = keys) => createCodes(by, registration, () => time);
  beforeEach(() => {
    time = 1_800_000_000_000;
    codes = create();
  });

  it('is opened only for its registration and its front end', () => {
    const code = codes.issue(content, frontEnd);
    expect(codes.open(code, 'app https://former.example')).to.equal(undefined);
    for (const other of ['provider https://evil.example - client-1', '', `${registration()} app`]) {
      const elsewhere = createCodes(
        keys,
        () => other,
        () => time,
      );
      expect(elsewhere.open(code, frontEnd)).to.equal(undefined);
    }
  });

  it('needs no verifier at a provider without PKCE', () => {
    const { codeVerifier, ...least } = content;
    expect(codes.open(codes.issue(least, frontEnd), frontEnd)).to.deep.equal(least);
    const unknown = { ...least, codeVerifier: undefined };
    expect(codes.open(codes.issue(unknown, frontEnd), frontEnd)).to.deep.equal(least);
  });

  it('is valid for 60 seconds', () => {
    const code = codes.issue(content, frontEnd);
    time += 60_000;
    expect(codes.open(code, frontEnd)).to.deep.equal(content);
    time += 1_000;
    expect(codes.open(code, frontEnd)).to.equal(undefined);
  });

  it('is valid if the clock of another replica is up to a minute ahead', () => {
    const code = codes.issue(content, frontEnd);
    time -= 60_000;
    expect(codes.open(code, frontEnd)).to.deep.equal(content);
    time -= 1_000;
    expect(codes.open(code, frontEnd)).to.equal(undefined);
  });

  it('holds the longest code that a provider may send', () => {
    const longest = { ...content, providerCode: '~'.repeat(4096) };
    expect(codes.open(codes.issue(longest, frontEnd), frontEnd)).to.deep.equal(longest);
  });

  it('is not accepted as a refresh token, nor a refresh token as a code', () => {
    const seconds = time / 1000;
    const ends = { loggedInAt: seconds, endsAt: seconds + 60 };
    const token = { ...ends, providerToken: { refreshToken: 'token' } };
    // This must hold even if both have the same keys by mistake.
    for (const others of [keys, [randomBytes(32)] satisfies KeyRing]) {
      const refreshTokens = createRefreshTokens(others, () => time);
      const owner = { registration: registration(), frontEnd };
      expect(refreshTokens.open(codes.issue(content, frontEnd), owner)).to.equal(undefined);
      expect(codes.open(refreshTokens.issue(token, owner) ?? '', frontEnd)).to.equal(undefined);
    }
  });
});
