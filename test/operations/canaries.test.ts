import { expect } from 'chai';
import { canariesIn, canary } from '../harness/expect/canaries.ts';

describe('the search for canaries', () => {
  it('finds a value in any case and encoding', () => {
    for (const kind of ['secret', 'code', 'token'] as const) {
      expect(canariesIn(`{"url":"/?a=${canary(kind)}&b"}`)).to.deep.equal(new Set([kind]));
      expect(canariesIn(canary(kind).toUpperCase())).to.deep.equal(new Set([kind]));
    }
    expect(canariesIn('c4n4r')).to.deep.equal(new Set());
  });

  it('finds a value in base64 and hex, at any position', () => {
    for (const prefix of ['', 'a', 'ab', 'abc', 'abcd']) {
      for (const encoding of ['base64', 'base64url', 'hex'] as const) {
        const encoded = Buffer.from(`${prefix}${canary('secret')}`).toString(encoding);
        expect(canariesIn(encoded), `${prefix} ${encoding}`).to.include('secret');
      }
    }
  });

  it('finds a value that was cut short', () => {
    expect(canariesIn(canary('token').replace(/en-.*/, ''))).to.include('token');
  });
});
