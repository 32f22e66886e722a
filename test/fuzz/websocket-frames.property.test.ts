import { expect } from 'chai';
import fc from 'fast-check';
import { FrameBoundaries } from '../../src/api-proxy/websocket-frames.ts';

// scripts/long fuzz sets more.
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 300);

const lengths = fc.oneof(
  fc.nat(130),
  fc.constantFrom(0, 125, 126, 127, 65_534, 65_535, 65_536, 65_537),
  fc.nat(70_000),
);

/** A frame with this many bytes of payload, whose length is spelled in one of the ways that servers have. */
const frames = fc.tuple(lengths, fc.boolean(), fc.nat(255), fc.nat(2)).map(([length, isMasked, firstByte, longer]) => {
  const needed = length < 126 ? 0 : length < 65_536 ? 1 : 2;
  const bytesOfLength = [0, 2, 8][Math.max(needed, longer)] ?? 8;
  const header = Buffer.alloc(2 + bytesOfLength + (isMasked ? 4 : 0), 0xff);
  header.writeUInt8(firstByte, 0);
  const short = bytesOfLength === 8 ? 127 : bytesOfLength === 2 ? 126 : length;
  header.writeUInt8((isMasked ? 0x80 : 0) | short, 1);
  if (bytesOfLength === 2) header.writeUInt16BE(length, 2);
  if (bytesOfLength === 8) header.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([header, Buffer.alloc(length, 0x81)]);
});

describe('the boundaries of WebSocket frames', () => {
  it('are found correctly, whatever the pieces are', () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 20_000 }), { maxLength: 40 });
    const property = fc.property(fc.array(frames, { maxLength: 6 }), cuts, fc.boolean(), (sent, sizes, isOneByOne) => {
      const all = Buffer.concat(sent);
      const ends = new Set<number>([0]);
      let end = 0;
      for (const { length } of sent) {
        end += length;
        ends.add(end);
      }
      const boundaries = new FrameBoundaries();
      let at = 0;
      for (const size of isOneByOne ? [...sizes, ...Array<number>(50).fill(1)] : sizes) {
        expect(boundaries.follow(all.subarray(at, at + size))).to.equal(Math.min(size, all.length - at));
        at = Math.min(at + size, all.length);
        expect(boundaries.isAtBoundary, `${at}`).to.equal(ends.has(at));
      }
      // From here on, the boundary must be exactly the next end.
      const taken = boundaries.follow(all.subarray(at), true);
      expect(at + taken).to.equal([...ends].find((one) => one >= at));
      expect(boundaries.isAtBoundary).to.equal(true);
    });
    fc.assert(property, { numRuns });
  });

  it('are never reached in a frame that claims more than there is', () => {
    const boundaries = new FrameBoundaries();
    boundaries.follow(Buffer.from('827fffffffffffffffff', 'hex'));
    expect(boundaries.follow(Buffer.alloc(1024 * 1024), true)).to.equal(1024 * 1024);
    expect(boundaries.isAtBoundary).to.equal(false);
  });
});
