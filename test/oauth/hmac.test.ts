import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { hmacSha256 } from '../../src/oauth/hmac.ts';

const bytes = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));

describe('HMAC-SHA256', () => {
  it('is what Node makes of the same key and message, whatever they are', () => {
    fc.assert(
      fc.property(bytes(200), fc.array(bytes(100), { maxLength: 5 }), (key, parts) => {
        const expected = createHmac('sha256', key).update(Buffer.concat(parts)).digest();
        expect(hmacSha256(key, parts).equals(expected)).to.equal(true);
      }),
      { numRuns: 2000 },
    );
  });

  for (const length of [0, 1, 31, 32, 63, 64, 65, 128]) {
    it(`takes a key of ${length} bytes, at which blocks begin or end`, () => {
      const key = Buffer.alloc(length, 0xa5);
      const expected = createHmac('sha256', key).update('message').digest('hex');
      expect(hmacSha256(key, [Buffer.from('message')]).toString('hex')).to.equal(expected);
    });
  }

  // The test cases of RFC 4231 §4.2 and §4.3.
  const published = {
    b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7: [
      Buffer.alloc(20, 0x0b),
      'Hi There',
    ],
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843': [
      Buffer.from('Jefe'),
      'what do ya want for nothing?',
    ],
  } as const;
  for (const [mac, [key, message]] of Object.entries(published)) {
    it(`is ${mac.slice(0, 8)}… for "${message}"`, () => {
      expect(hmacSha256(key, [Buffer.from(message)]).toString('hex')).to.equal(mac);
    });
  }
});
