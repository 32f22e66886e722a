import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type CodeContent, type Codes, createCodes } from '../../src/grants/codes.ts';
import { createRefreshTokens } from '../../src/grants/refresh-tokens.ts';
import type { KeyRing } from '../../src/keys.ts';

const keys: KeyRing = [randomBytes(32)];
const content: CodeContent = {
  registration: 'provider',
  frontEnd: 'app',
  redirectUri: 'https://app.example/signed-in?kept=1',
  codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  providerCode: 'the provider’s code',
  codeVerifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
};

describe('a code of the relay', () => {
  let time: number;
  let codes: Codes;
  beforeEach(() => {
    time = 1_800_000_000_000;
    codes = createCodes(keys, () => time);
  });

  it('contains the login that it was issued for', async () => {
    expect(await codes.open(await codes.issue(content))).to.deep.equal(content);
  });

  it('needs no verifier at a provider without PKCE', async () => {
    const { codeVerifier, ...least } = content;
    expect(await codes.open(await codes.issue(least))).to.deep.equal(least);
    const unknown = { ...least, codeVerifier: undefined };
    expect(await codes.open(await codes.issue(unknown))).to.deep.equal(least);
  });

  it('is valid for 60 seconds', async () => {
    const code = await codes.issue(content);
    time += 60_000;
    expect(await codes.open(code)).to.deep.equal(content);
    time += 1_000;
    expect(await codes.open(code)).to.equal(undefined);
  });

  it('is valid if the clock of another replica is up to a minute ahead', async () => {
    const code = await codes.issue(content);
    time -= 60_000;
    expect(await codes.open(code)).to.deep.equal(content);
    time -= 1_000;
    expect(await codes.open(code)).to.equal(undefined);
  });

  it('holds the longest code that a provider may send', async () => {
    const longest = { ...content, providerCode: '~'.repeat(4096) };
    expect(await codes.open(await codes.issue(longest))).to.deep.equal(longest);
  });

  it('is opened with the previous key during a rotation, and not afterwards', async () => {
    const [key] = keys;
    const code = await codes.issue(content);
    const rotated = createCodes([randomBytes(32), key], () => time);
    expect(await rotated.open(code)).to.deep.equal(content);
    expect(await codes.open(await rotated.issue(content))).to.equal(undefined);
    expect(await createCodes([randomBytes(32)], () => time).open(code)).to.equal(undefined);
  });

  it('is not accepted as a refresh token, nor a refresh token as a code', async () => {
    const seconds = time / 1000;
    const login = { registration: 'provider', frontEnd: 'app', loggedInAt: seconds };
    const token = { ...login, endsAt: seconds + 60, providerToken: { refreshToken: 'token' } };
    // This must hold even if both have the same keys by mistake.
    for (const others of [keys, [randomBytes(32)] satisfies KeyRing]) {
      const refreshTokens = createRefreshTokens(others, () => time);
      expect(await refreshTokens.open(await codes.issue(content))).to.equal(undefined);
      expect(await codes.open((await refreshTokens.issue(token)) ?? '')).to.equal(undefined);
    }
  });
});
