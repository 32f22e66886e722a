import { expect } from 'chai';
import { checkSession } from '../../src/check/session.ts';
import { type Given, read } from '../config/support/read.ts';

const flags = { tokenDelivery: 'session', origin: 'http://localhost:5173' };

function messages(given: Given['flags']): string[] {
  return checkSession(read({ flags: { ...flags, ...given } }).config).map(({ message }) => message);
}

describe('login-relay check, about sessions', () => {
  it('says how long they last', () => {
    expect(messages({})).to.deep.equal([
      'lasts 7 days at most, and 24 hours without a refresh; its page gets no token',
    ]);
    expect(messages({ sessionLifetime: '1', sessionIdle: '1' })).to.deep.equal([
      'lasts 1 day at most, and 1 hour without a refresh; its page gets no token',
    ]);
  });

  it('says nothing about other front ends', () => {
    expect(messages({ tokenDelivery: 'query' })).to.deep.equal([]);
  });
});
