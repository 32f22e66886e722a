import { expect } from 'chai';
import { scopeBeyond, scopeForFrontEnd, scopeForProvider } from '../../src/oauth/scope.ts';

describe('a scope', () => {
  for (const [granted, told] of [
    ['read:user repo', 'read:user repo'],
    ['openid profile email', 'profile email'],
    ['profile openid offline_access', 'profile'],
    ['openid offline_access', undefined],
    ['openid.profile', 'openid.profile'],
    [undefined, undefined],
  ]) {
    it(`is ${told} for front ends if ${granted} was granted`, () => {
      expect(scopeForFrontEnd(granted)).to.equal(told);
    });
  }

  it('keeps what the relay needs at an OpenID provider if a front end narrows it', () => {
    const whole = ['openid', 'profile', 'email', 'offline_access'];
    expect(scopeForProvider(['email'], whole)).to.equal('openid email offline_access');
    expect(scopeForProvider(['email', 'openid'], whole)).to.equal('openid email offline_access');
    expect(scopeForProvider(['repo'], ['read:user', 'repo'])).to.equal('repo');
  });
});

describe('what is granted beyond a scope', () => {
  for (const [granted, configured, beyond] of [
    ['repo user', 'user', ['repo']],
    ['repo,user', 'user,gist', ['repo']],
    ['user', 'user repo', []],
    ['openid offline_access profile', 'profile', []],
    ['openid https://www.googleapis.com/auth/userinfo.email', 'openid email', []],
    ['https://graph.microsoft.com/User.Read', 'user.read', []],
    [
      'https://graph.microsoft.com/Mail.Read',
      'user.read',
      ['https://graph.microsoft.com/Mail.Read'],
    ],
    ['anything', undefined, []],
    [undefined, 'user', []],
  ] as const) {
    it(`is ${beyond.join(' ') || 'nothing'}, of ${granted} for ${configured}`, () => {
      expect(scopeBeyond(granted, configured)).to.deep.equal(beyond);
    });
  }
});
