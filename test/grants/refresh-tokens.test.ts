import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import {
  createRefreshTokens,
  firstRefreshTokenContent,
  isStillGranted,
  nextRefreshTokenContent,
  type RefreshTokenContent,
} from '../../src/grants/refresh-tokens.ts';
import type { TokenResponse } from '../../src/oauth/token-response.ts';

const day = 86_400;
const loggedInAt = 1_800_000_000;
type Policy = Parameters<typeof firstRefreshTokenContent>[0];

const policy: Policy = {
  mode: 'bound',
  rotates: false,
  lifetime: 30 * day,
  keepsAccessToken: false,
};
const thumbprint = 'thumbprint';
const token: TokenResponse = {
  accessToken: 'access 1',
  tokenType: 'bearer',
  expiresIn: 28_800,
  refreshToken: 'refresh 1',
  refreshExpiresIn: undefined,
  scope: 'read write',
};

const owner = ['provider', 'app'] as const;
let time = 0;
const refreshTokens = createRefreshTokens([randomBytes(32)], () => time);
beforeEach(() => {
  time = loggedInAt * 1000;
});

/** The content after a refresh token with this content is opened. */
async function opened(content: RefreshTokenContent | undefined): Promise<RefreshTokenContent> {
  const issued = content && refreshTokens.issue(content, owner);
  const login = refreshTokens.open(issued ?? '', owner);
  if (login === undefined) throw new Error('there is no valid refresh token');
  return login;
}

async function first(changes: Partial<TokenResponse> = {}, by: Partial<Policy> = {}): Promise<RefreshTokenContent> {
  const given = { ...token, ...changes };
  const at = () => time;
  return await opened(firstRefreshTokenContent({ ...policy, ...by }, given, thumbprint, at));
}

describe('a refresh token of the relay', () => {
  it('is valid until its end', async () => {
    const content = await first();
    const issued = refreshTokens.issue(content, owner) ?? '';
    time = content.endsAt * 1000 - 1;
    expect(refreshTokens.open(issued, owner)).to.deep.equal(content);
    time += 1;
    expect(refreshTokens.open(issued, owner)).to.equal(undefined);
  });

  it('is not issued if it is too long for a token request', async () => {
    const content = await first();
    const holding = (length: number) => ({
      ...content,
      providerToken: { accessToken: 'x'.repeat(length) },
    });
    expect(await opened(holding(8192))).to.deep.equal(holding(8192));
    expect(refreshTokens.issue(holding(10_000), owner)).to.equal(undefined);
  });
});

describe('the first refresh token of a login', () => {
  it('holds the refresh token of the provider, until the end of the login', async () => {
    const { login, ...others } = await first();
    expect(login).to.match(/^[\w-]{22}$/);
    expect(others).to.deep.equal({
      thumbprint,
      scope: 'read write',
      loggedInAt,
      endsAt: loggedInAt + 30 * day,
      providerToken: { refreshToken: 'refresh 1' },
    });
  });

  it('also holds the access token if the provider revokes only access tokens', async () => {
    const { providerToken } = await first({}, { keepsAccessToken: true });
    expect(providerToken).to.deep.equal({ refreshToken: 'refresh 1', accessToken: 'access 1' });
  });

  it('ends with the refresh token of the provider, if that is earlier', async () => {
    expect((await first({ refreshExpiresIn: day })).endsAt).to.equal(loggedInAt + day);
    expect((await first({ refreshExpiresIn: 180 * day })).endsAt).to.equal(loggedInAt + 30 * day);
  });

  it('holds the access token, until its end, if the provider gives no refresh token', async () => {
    const login = await first({ refreshToken: undefined });
    expect(login.endsAt).to.equal(loggedInAt + 28_800);
    const held = { accessToken: 'access 1', tokenType: 'bearer', endsAt: loggedInAt + 28_800 };
    expect(login.providerToken).to.deep.equal(held);
  });

  it('holds an access token without end until the end of the login', async () => {
    const login = await first({ refreshToken: undefined, expiresIn: undefined });
    expect(login.endsAt).to.equal(loggedInAt + 30 * day);
    expect(login.providerToken).to.deep.equal({ accessToken: 'access 1', tokenType: 'bearer' });
  });

  it('is given only to a front end that proves a key, unless the mode is bearer', async () => {
    const issue = (mode: 'bound' | 'bearer') =>
      firstRefreshTokenContent({ ...policy, mode }, token, undefined, () => time);
    expect(issue('bound')).to.equal(undefined);
    expect((await opened(issue('bearer'))).thumbprint).to.equal(undefined);
  });
});

describe('the next refresh token of a login', () => {
  async function next(
    changes: Partial<TokenResponse> & { refreshToken: string },
    after: RefreshTokenContent,
    by: Partial<Policy> = {},
  ): Promise<RefreshTokenContent> {
    const refreshed = { ...token, accessToken: 'access 2', ...changes };
    const at = () => time;
    return await opened(nextRefreshTokenContent({ ...policy, ...by }, after, refreshed, at));
  }

  it('holds the new refresh token of the provider, and the same login', async () => {
    const login = await first();
    time += day * 1000;
    const providerToken = { refreshToken: 'refresh 2' };
    const content = await next({ ...providerToken, scope: 'read' }, login);
    expect(content).to.deep.equal({ ...login, providerToken });
  });

  it('holds the new access token if the provider revokes only access tokens', async () => {
    const by = { keepsAccessToken: true };
    const { providerToken } = await next({ refreshToken: 'refresh 2' }, await first({}, by), by);
    expect(providerToken).to.deep.equal({ refreshToken: 'refresh 2', accessToken: 'access 2' });
  });

  it('ends with the new refresh token of the provider, and never after the login', async () => {
    const login = await first({ refreshExpiresIn: day });
    time += (day / 2) * 1000;
    const later = await next({ refreshToken: 'refresh 2', refreshExpiresIn: day }, login);
    expect(later.endsAt).to.equal(loggedInAt + 1.5 * day);
    const last = await next({ refreshToken: 'refresh 3', refreshExpiresIn: 180 * day }, later);
    expect(last.endsAt).to.equal(loggedInAt + 30 * day);
  });

  it('ends when the previous refresh token ends, if the refresh token of the provider is the same', async () => {
    const login = await first({ refreshExpiresIn: day });
    time += 1000;
    expect((await next({ refreshToken: 'refresh 1' }, login)).endsAt).to.equal(loggedInAt + day);
  });

  it('ends with the login if the provider does not say when a new refresh token ends', async () => {
    const login = await first({ refreshExpiresIn: day });
    const { endsAt } = await next({ refreshToken: 'refresh 2' }, login);
    expect(endsAt).to.equal(loggedInAt + 30 * day);
  });

  it('ends earlier if the operator has shortened the lifetime', async () => {
    const { endsAt } = await next({ refreshToken: 'refresh 2' }, await first(), { lifetime: day });
    expect(endsAt).to.equal(loggedInAt + day);
  });
});

describe('a refresh token of an earlier configuration', () => {
  it('is refused once its login is older than the lifetime of today', async () => {
    const login = await first();
    const shorter = { ...policy, lifetime: day };
    time += day * 1000 - 1;
    expect(isStillGranted(shorter, login, () => time)).to.equal(true);
    time += 1;
    expect(isStillGranted(shorter, login, () => time)).to.equal(false);
    expect(isStillGranted(policy, login, () => time)).to.equal(true);
  });

  it('is refused if it has no key, and the present configuration demands a key', async () => {
    const unbound = { ...(await first()), thumbprint: undefined };
    expect(isStillGranted(policy, unbound, () => time)).to.equal(false);
    expect(isStillGranted({ ...policy, mode: 'bearer' }, unbound, () => time)).to.equal(true);
  });
});
