import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { parseTokenResponse, type TokenResponse } from '../../src/oauth/token-response.ts';
import { presets } from '../../src/providers/presets.ts';
import type { Provider } from '../../src/providers/provider.ts';

type Dialect = Partial<Provider>;

function parse(fields: object, provider: Dialect = {}): TokenResponse {
  return parseTokenResponse({ status: 200, body: Buffer.from(JSON.stringify(fields)) }, provider);
}

const preset = (wanted: string) => presets.find(({ name }) => name === wanted)?.provider;
const github = preset('github');
const slack = preset('slack');
const twitch = preset('twitch');
const linkedin = preset('linkedin');

describe('a token response', () => {
  const token = { access_token: 'token' };
  const minimal = {
    accessToken: 'token',
    tokenType: undefined,
    expiresIn: undefined,
    scope: undefined,
    refreshToken: undefined,
    refreshExpiresIn: undefined,
  };

  it('is read as RFC 6749 defines it', () => {
    const scope = 'openid profile';
    const fields = { token_type: 'Bearer', expires_in: 3600, refresh_token: 'refresh', scope };
    const read = { tokenType: 'Bearer', expiresIn: 3600, refreshToken: 'refresh', scope };
    expect(parse({ ...token, ...fields })).to.deep.equal({ ...minimal, ...read });
  });

  it('needs only an access token', () => {
    expect(parse(token)).to.deep.equal(minimal);
  });

  it('can have times as numbers or as text, in whole seconds', () => {
    const read = (expires_in: unknown) => parse({ ...token, expires_in }).expiresIn;
    expect([28_800, '28800', 3599.9].map(read)).to.deep.equal([28_800, 28_800, 3599]);
    const texts = ['0', '-1', '1e3', '', '9'.repeat(13)];
    for (const unusable of [0, 0.5, -1, 1e12, ...texts, null, true, [60]]) {
      expect(read(unusable), JSON.stringify(unusable)).to.equal(undefined);
    }
  });

  it('has no refresh token if it is empty, not text, or longer than 8 KiB', () => {
    const longest = 'r'.repeat(8192);
    expect(parse({ ...token, refresh_token: longest }).refreshToken).to.equal(longest);
    for (const refresh_token of ['', null, 1, {}, `${longest}r`, '\ud800']) {
      expect(parse({ ...token, refresh_token }).refreshToken).to.equal(undefined);
    }
  });

  it('of GitHub has the end of the refresh token, and separates scopes with commas', () => {
    const times = { expires_in: 28_800, refresh_token_expires_in: 15_897_600 };
    const fields = { ...token, ...times, refresh_token: 'ghr_1', scope: 'gist,read:user' };
    const read = { expiresIn: 28_800, refreshExpiresIn: 15_897_600, scope: 'gist read:user' };
    expect(parse(fields, github)).to.include(read);
    expect(parse({ ...token, scope: '' }, github).scope).to.equal(undefined);
  });

  it('of LinkedIn separates scopes with commas', () => {
    expect(parse({ ...token, scope: 'email,openid,profile' }, linkedin).scope).to.equal('email openid profile');
  });

  it('separates scopes as requests do, and always at spaces', () => {
    const scopeOf = (scope: string, dialect: Dialect) => parse({ ...token, scope }, dialect).scope;
    expect(scopeOf('read,activity:read', { scopeSeparator: ',' })).to.equal('read activity:read');
    expect(scopeOf('read, write  all', { answerScopeSeparator: ',' })).to.equal('read write all');
    expect(scopeOf('a|b,c', { scopeSeparator: ',', answerScopeSeparator: '|' })).to.equal('a b,c');
  });

  it('of other providers keeps commas, because a scope may contain them', () => {
    expect(parse({ ...token, scope: 'a,b c' }).scope).to.equal('a,b c');
  });

  it('of Twitch lists its scopes', () => {
    const scope = ['openid', 'user:read:email'];
    expect(parse({ ...token, scope }, twitch).scope).to.equal('openid user:read:email');
    for (const unusable of [[], ['a', 1], [null], {}, 1, [['a']]]) {
      expect(parse({ ...token, scope: unusable }, twitch).scope).to.equal(undefined);
    }
  });

  it('of Slack has the token of the user if it has no other', () => {
    const authed_user = {
      id: 'U1',
      access_token: 'xoxe.xoxp-1',
      token_type: 'user',
      refresh_token: 'xoxe-1',
      expires_in: 43_200,
      scope: 'identity.basic,identity.avatar',
    };
    expect(parse({ ok: true, authed_user }, slack)).to.deep.include({
      accessToken: 'xoxe.xoxp-1',
      refreshToken: 'xoxe-1',
      expiresIn: 43_200,
      scope: 'identity.basic identity.avatar',
    });
    expect(parse({ ...token, authed_user }, slack)).to.deep.equal(minimal);
  });

  it('has no token if that is in another nested object, or in a nested text', () => {
    expect(() => parse({ authed_user: token })).to.throw(RelayError, 'token_missing');
    expect(() => parse({ authed_user: 'token' }, slack)).to.throw(RelayError, 'token_missing');
    expect(() => parse({ authed_user: [token] }, slack)).to.throw(RelayError, 'token_missing');
  });
});
