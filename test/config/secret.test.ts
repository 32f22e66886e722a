import { inspect } from 'node:util';
import { expect } from 'chai';
import { Secret } from '../../src/secret.ts';

describe('a secret', () => {
  const secret = new Secret('canary');

  it('gives its value to who asks for it by name', () => {
    expect(secret.reveal()).to.equal('canary');
  });

  it('shows a mask wherever it is printed, joined or serialised', () => {
    for (const shown of [
      `${secret}`,
      JSON.stringify({ secret }),
      inspect(secret),
      inspect({ a: [secret] }),
    ]) {
      expect(shown).to.include('[secret]').and.not.include('canary');
    }
  });

  it('has no property that a copy would carry', () => {
    expect(Object.values({ ...secret })).to.deep.equal([]);
  });
});
