import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type CodeContent, type Codes, createCodes } from '../../src/grants/codes.ts';
import { createRefreshTokens } from '../../src/grants/refresh-tokens.ts';
import type { KeyRing } from '../../src/sealing/keys.ts';
import { codeOf } from '../harness/expect/failure-code.ts';

function failureOf(work: () => unknown): string {
  try {
    return `no failure: ${JSON.stringify(work())}`;
  } catch (error) {
    return codeOf(error);
  }
}

const keys: KeyRing = [randomBytes(32)];
const registration = () => 'provider https://id.example - client-1';
const frontEnd = 'app https://app.example';
const page = { audience: frontEnd, kind: 'page' } as const;
const native = { ...page, kind: 'native' } as const;
const content: CodeContent = {
  redirectUri: 'https://app.example/signed-in?kept=1',
  codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  providerCode: 'the provider’s code',
  codeVerifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
};

describe('a code of the relay', () => {
  let time: number;
  let codes: Codes;
  const now = () => time;
  const create = (at = registration()) => createCodes(keys, () => at, now);
  beforeEach(() => {
    time = 1_800_000_000_000;
    codes = create();
  });

  it('is opened only for its registration and its front end', () => {
    const code = codes.issue(content, frontEnd);
    expect(failureOf(() => codes.open(code, { ...page, audience: 'app https://former.example' }))).to.equal(
      'grant_invalid',
    );
    for (const other of ['provider https://evil.example - client-1', '', `${registration()} app`]) {
      expect(failureOf(() => create(other).open(code, page))).to.equal('grant_invalid');
    }
  });

  it('needs no verifier at a provider without PKCE', () => {
    const { codeVerifier, ...least } = content;
    expect(codes.open(codes.issue(least, frontEnd), page).login).to.deep.equal(least);
    const unknown = { ...least, codeVerifier: undefined };
    expect(codes.open(codes.issue(unknown, frontEnd), page).login).to.deep.equal(least);
  });

  for (const [frontEnd, seconds] of [
    [page, 60],
    [native, 300],
  ] as const) {
    it(`is valid for ${seconds} seconds for a front end of the kind ${frontEnd.kind}, and then says that it is expired`, () => {
      const code = codes.issue(content, frontEnd.audience);
      time += seconds * 1000;
      expect(codes.open(code, frontEnd)).to.deep.equal({ login: content, left: 0 });
      time += 1_000;
      expect(failureOf(() => codes.open(code, frontEnd))).to.equal('code_expired');
    });
  }

  it('is valid if the clock of another replica is up to a minute ahead', () => {
    const code = codes.issue(content, frontEnd);
    time -= 60_000;
    expect(codes.open(code, page).login).to.deep.equal(content);
    time -= 1_000;
    expect(failureOf(() => codes.open(code, page))).to.equal('grant_invalid');
  });

  it('holds the longest code that a provider may send', () => {
    const longest = { ...content, providerCode: '~'.repeat(4096) };
    expect(codes.open(codes.issue(longest, frontEnd), page).login).to.deep.equal(longest);
  });

  it('is not accepted as a refresh token, nor a refresh token as a code', () => {
    const seconds = time / 1000;
    const ends = { loggedInAt: seconds, endsAt: seconds + 60 };
    const token = { login: 'login', ...ends, providerToken: { refreshToken: 'token' } };
    // This must hold even if both have the same keys by mistake.
    for (const others of [keys, [randomBytes(32)] satisfies KeyRing]) {
      const refreshTokens = createRefreshTokens(others, () => time);
      const owner = [registration(), frontEnd] as const;
      expect(refreshTokens.open(codes.issue(content, frontEnd), owner)).to.equal(undefined);
      const issued = refreshTokens.issue(token, owner) ?? '';
      expect(failureOf(() => codes.open(issued, page))).to.equal('grant_invalid');
    }
  });
});
