import { expect } from 'chai';
import { RelayError } from '../../src/errors.ts';
import { parseTokenResponse, type TokenResponse } from '../../src/oauth/token-response.ts';
import { presets } from '../../src/providers/presets.ts';
import type { Provider } from '../../src/providers/provider.ts';

type Dialect = Pick<Provider, 'tokenResponse'>;

function parse(fields: object, provider: Dialect = {}): TokenResponse {
  return parseTokenResponse({ status: 200, body: Buffer.from(JSON.stringify(fields)) }, provider);
}

const preset = (wanted: string) => presets.find(({ name }) => name === wanted);
const [github, slack, twitch] = ['github', 'slack', 'twitch'].map(preset);

describe('a token response', () => {
  const token = { access_token: 'token' };

  it('is read as RFC 6749 defines it', () => {
    const fields = {
      ...token,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: 'refresh',
      scope: 'openid profile',
    };
    expect(parse(fields)).to.deep.equal({
      accessToken: 'token',
      tokenType: 'Bearer',
      expiresIn: 3600,
      refreshToken: 'refresh',
      refreshExpiresIn: undefined,
      scope: 'openid profile',
    });
  });

  it('needs only an access token', () => {
    expect(parse(token)).to.deep.equal({
      accessToken: 'token',
      tokenType: undefined,
      expiresIn: undefined,
      refreshToken: undefined,
      refreshExpiresIn: undefined,
      scope: undefined,
    });
  });

  it('can have times as numbers or as text, in whole seconds', () => {
    const times: [given: unknown, read: number | undefined][] = [
      [28_800, 28_800],
      ['28800', 28_800],
      [3599.9, 3599],
      [0, undefined],
      ['0', undefined],
      [0.5, undefined],
      [-1, undefined],
      [1e12, undefined],
      ['-1', undefined],
      ['1e3', undefined],
      ['', undefined],
      ['9'.repeat(13), undefined],
      [null, undefined],
      [true, undefined],
      [[60], undefined],
    ];
    for (const [given, read] of times) {
      expect(parse({ ...token, expires_in: given }).expiresIn, `${given}`).to.equal(read);
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
    const fields = {
      ...token,
      expires_in: 28_800,
      refresh_token: 'ghr_1',
      refresh_token_expires_in: 15_897_600,
      scope: 'gist,read:user',
    };
    expect(parse(fields, github)).to.include({
      expiresIn: 28_800,
      refreshExpiresIn: 15_897_600,
      scope: 'gist read:user',
    });
    expect(parse({ ...token, scope: '' }, github).scope).to.equal(undefined);
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
    expect(parse({ ...token, authed_user }, slack)).to.deep.include({
      accessToken: 'token',
      refreshToken: undefined,
    });
  });

  it('has no token if that is in another nested object, or in a nested text', () => {
    const nested = { authed_user: token };
    expect(() => parse(nested)).to.throw(RelayError, 'token_missing');
    expect(() => parse({ authed_user: 'token' }, slack)).to.throw(RelayError, 'token_missing');
    expect(() => parse({ authed_user: [token] }, slack)).to.throw(RelayError, 'token_missing');
  });
});
