import { expect } from 'chai';
import { randomBytes } from '../../src/oauth/random-bytes.ts';

describe('random bytes', () => {
  it('have the length asked for, over many draws from the system', () => {
    for (let count = 0; count < 500; count += 1) {
      for (const length of [16, 32]) expect(randomBytes(length)).to.have.lengthOf(length);
    }
  });

  it('are given out once: no two are the same, and none share memory', () => {
    const drawn = Array.from({ length: 5000 }, () => randomBytes(32));
    const before = drawn.map((bytes) => bytes.toString('hex'));
    for (const bytes of drawn) bytes[0] = (bytes[0] ?? 0) ^ 255;
    for (let count = 0; count < 500; count += 1) randomBytes(32);
    expect(new Set(before).size).to.equal(drawn.length);
    expect(drawn.map((bytes) => bytes.toString('hex').slice(2))).to.deep.equal(
      before.map((hex) => hex.slice(2)),
    );
  });

  it('are spread evenly', () => {
    const ones = Array.from({ length: 8 }, () => 0);
    const draws = 4000;
    for (let count = 0; count < draws; count += 1) {
      for (const byte of randomBytes(16)) {
        for (let bit = 0; bit < 8; bit += 1) ones[bit] = (ones[bit] ?? 0) + ((byte >> bit) & 1);
      }
    }
    // 64,000 bits a place: 1,500 from the middle is twelve standard deviations.
    for (const count of ones) expect(count).to.be.within(32_000 - 1500, 32_000 + 1500);
  });
});
