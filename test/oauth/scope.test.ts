import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { narrowScopeOfRefresh, scopeBeyond, scopeForFrontEnd, scopeForProvider } from '../../src/oauth/scope.ts';

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

describe('the words that are granted beyond a scope', () => {
  const mail = 'https://graph.microsoft.com/Mail.Read';
  for (const [granted, configured, beyond] of [
    ['repo user', 'user', ['repo']],
    ['repo,user', 'user,gist', ['repo']],
    ['user', 'user repo', []],
    ['openid offline_access profile', 'profile', []],
    ['openid https://www.googleapis.com/auth/userinfo.email', 'openid email', []],
    ['https://graph.microsoft.com/User.Read', 'user.read', []],
    [mail, 'user.read', [mail]],
    [mail, 'https://outlook.office.com/Mail.Read', [mail]],
    [mail, `openid ${mail}`, []],
    ['anything', undefined, []],
    [undefined, 'user', []],
  ] as const) {
    it(`is ${beyond.join(' ') || 'nothing'}, of ${granted} for ${configured}`, () => {
      expect(scopeBeyond(granted, configured)).to.deep.equal(beyond);
    });
  }
});

describe('the scope of a refresh', () => {
  for (const [asked, granted, scope] of [
    [undefined, 'read write', undefined],
    [undefined, undefined, undefined],
    ['read', 'read write', 'read'],
    ['write read', 'read write', undefined],
    ['read write', 'write,read', undefined],
    ['read', 'write, read', 'read'],
    ['profile', 'openid profile offline_access', undefined],
    ['email', 'openid profile email', 'openid email'],
  ] as const) {
    it(`is ${scope ?? 'left out'} if ${asked ?? 'none'} is asked for and ${granted ?? 'an unknown one'} was granted`, () => {
      expect(narrowScopeOfRefresh(asked, granted)).to.equal(scope);
    });
  }

  for (const [asked, granted] of [
    ['admin', 'read write'],
    ['read admin', 'read write'],
    ['read', undefined],
    ['READ', 'read'],
    ['read  write', 'read write'],
    ['read,write', 'read write'],
    [' ', 'read'],
  ] as const) {
    it(`is refused if "${asked}" is asked for and ${granted ?? 'nothing known'} was granted`, () => {
      expect(() => narrowScopeOfRefresh(asked, granted))
        .to.throw(RelayError)
        .with.property('code', 'scope_refused');
    });
  }
});
