import { expect } from 'chai';
import { RelayError } from '../../src/errors.ts';
import { refreshScope } from '../../src/oauth/scope.ts';

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
      expect(refreshScope(asked, granted)).to.equal(scope);
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
      expect(() => refreshScope(asked, granted))
        .to.throw(RelayError)
        .with.property('code', 'scope_refused');
    });
  }
});
