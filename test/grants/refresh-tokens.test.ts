import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import {
  createRefreshTokens,
  type RefreshTokenContent,
  type RefreshTokens,
} from '../../src/grants/refresh-tokens.ts';
import type { KeyRing } from '../../src/keys.ts';

const keys: KeyRing = [randomBytes(32)];
const loggedInAt = 1_800_000_000;
const content: RefreshTokenContent = {
  registration: 'provider',
  frontEnd: 'app',
  thumbprint: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
  scope: 'read:user user:email',
  loggedInAt,
  endsAt: loggedInAt + 30 * 86_400,
  providerToken: { refreshToken: 'the provider’s refresh token' },
};

describe('a refresh token of the relay', () => {
  let time: number;
  let refreshTokens: RefreshTokens;
  beforeEach(() => {
    time = loggedInAt * 1000;
    refreshTokens = createRefreshTokens(keys, () => time);
  });

  async function issue(issued: RefreshTokenContent): Promise<string> {
    const token = await refreshTokens.issue(issued);
    if (token === undefined) throw new Error('no refresh token was issued');
    return token;
  }

  const { thumbprint, scope, ...least } = content;
  for (const [what, issued] of [
    ['a refresh token of the provider', content],
    [
      'a refresh token of the provider, and the access token for its revocation',
      { ...content, providerToken: { refreshToken: 'refresh', accessToken: 'access' } },
    ],
    [
      'an access token with its end',
      {
        ...content,
        providerToken: { accessToken: 'access', tokenType: 'bearer', endsAt: loggedInAt + 28_800 },
      },
    ],
    ['an access token without end', { ...content, providerToken: { accessToken: 'access' } }],
    ['no key and no scope', least],
  ] as const) {
    it(`holds ${what}`, async () => {
      expect(await refreshTokens.open(await issue(issued))).to.deep.equal(issued);
    });
  }

  it('is valid until its end', async () => {
    const token = await issue(content);
    time = content.endsAt * 1000 - 1;
    expect(await refreshTokens.open(token)).to.deep.equal(content);
    time += 1;
    expect(await refreshTokens.open(token)).to.equal(undefined);
  });

  it('is opened with the previous key during a rotation, and not afterwards', async () => {
    const [key] = keys;
    const token = await issue(content);
    const rotated = createRefreshTokens([randomBytes(32), key], () => time);
    expect(await rotated.open(token)).to.deep.equal(content);
    expect(await createRefreshTokens([randomBytes(32)], () => time).open(token)).to.equal(
      undefined,
    );
  });

  it('is not issued if it is too long for a token request', async () => {
    const holding = (length: number) => ({
      ...content,
      providerToken: { accessToken: 'x'.repeat(length) },
    });
    expect(await refreshTokens.open(await issue(holding(8192)))).to.deep.equal(holding(8192));
    expect(await refreshTokens.issue(holding(10_000))).to.equal(undefined);
  });

  it('cannot be made from input of an attacker', async () => {
    for (const text of ['', '.', '....', JSON.stringify(content), 'x'.repeat(1_000_000)]) {
      expect(await refreshTokens.open(text)).to.equal(undefined);
    }
  });
});
