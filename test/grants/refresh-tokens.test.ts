import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createRefreshTokens, type RefreshTokenContent } from '../../src/grants/refresh-tokens.ts';
import type { KeyRing } from '../../src/keys.ts';

const keys: KeyRing = [randomBytes(32)];
const owner = {
  registration: 'provider https://id.example - client-1',
  frontEnd: 'app https://app.example',
};
const loggedInAt = 1_800_000_000;
const content: RefreshTokenContent = {
  thumbprint: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
  scope: 'read:user user:email',
  loggedInAt,
  endsAt: loggedInAt + 30 * 86_400,
  providerToken: { refreshToken: 'the provider’s refresh token' },
};

describe('a refresh token of the relay', () => {
  let time: number;
  let refreshTokens: ReturnType<typeof createRefreshTokens>;
  beforeEach(() => {
    time = loggedInAt * 1000;
    refreshTokens = createRefreshTokens(keys, () => time);
  });

  function issue(issued: RefreshTokenContent): string {
    const token = refreshTokens.issue(issued, owner);
    if (token === undefined) throw new Error('no refresh token was issued');
    return token;
  }

  it('is valid until its end', () => {
    const token = issue(content);
    time = content.endsAt * 1000 - 1;
    expect(refreshTokens.open(token, owner)).to.deep.equal(content);
    time += 1;
    expect(refreshTokens.open(token, owner)).to.equal(undefined);
  });

  it('is not issued if it is too long for a token request', () => {
    const holding = (length: number) => ({
      ...content,
      providerToken: { accessToken: 'x'.repeat(length) },
    });
    expect(refreshTokens.open(issue(holding(8192)), owner)).to.deep.equal(holding(8192));
    expect(refreshTokens.issue(holding(10_000), owner)).to.equal(undefined);
  });
});
