import { inspect } from 'node:util';
import { expect } from 'chai';
import { Secret } from '../../src/secret.ts';

describe('a secret', () => {
  const secret = new Secret('canary');

  it('reveals its value by reveal()', () => {
    expect(secret.reveal()).to.equal('canary');
  });

  it('is masked if it is printed, joined or serialised', () => {
    for (const shown of [
      `${secret}`,
      JSON.stringify({ secret }),
      inspect(secret),
      inspect({ a: [secret] }),
    ]) {
      expect(shown).to.include('[secret]').and.not.include('canary');
    }
  });

  it('has no property that could be copied', () => {
    expect(Object.values({ ...secret })).to.deep.equal([]);
  });
});
