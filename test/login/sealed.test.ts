import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import * as v from 'valibot';
import { createSeal, looksSealed } from '../../src/sealing/seal.ts';

const key = randomBytes(32);
const previous = randomBytes(32);
const schema = v.object({ name: v.string() });
const seal = createSeal('test', [key, previous], schema);
const content = { name: 'a login' };

describe('a sealed text', () => {
  it('opens to its content', () => {
    for (const one of [content, { name: '\0"\\ – 🔑' }]) {
      expect(seal.open(seal.seal(one))).to.deep.equal(one);
    }
  });

  it('does not open if it was not sealed', () => {
    const madeUp = fc.uint8Array({ minLength: 40, maxLength: 120 });
    fc.assert(
      fc.property(madeUp, (bytes) => {
        const text = Buffer.from(bytes).toString('base64url');
        expect(seal.open(text)).to.equal(undefined);
        expect(seal.open(`lr1_${text}`)).to.equal(undefined);
      }),
    );
  });

  it('needs no percent-encoding, does not show its content, and differs each time', () => {
    const texts = [seal.seal(content), seal.seal(content)];
    expect(texts[0]).not.to.equal(texts[1]);
    for (const text of texts) {
      expect(text).to.match(/^lr1_[\w-]+$/);
      expect(Buffer.from(text, 'base64url').toString('latin1')).not.to.contain('login');
    }
  });

  it('does not open if a bit of a byte is changed', () => {
    const bytes = Buffer.from(seal.seal(content), 'base64url');
    for (const position of bytes.keys()) {
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(changed.readUInt8(position) ^ (1 << bit), position);
        expect(seal.open(changed.toString('base64url')), `${position}`).to.equal(undefined);
      }
    }
  });

  it('does not open if a character is changed, even one whose bits are unused', () => {
    for (const name of ['a', 'aa', 'aaa']) {
      const text = seal.seal({ name });
      for (const position of text.split('').keys()) {
        for (const character of ['A', 'B', 'Q', '_', '=', '+', '/', ' ', '\n', 'é', '']) {
          if (character === text[position]) continue;
          const altered = text.slice(0, position) + character + text.slice(position + 1);
          expect(seal.open(altered), `${position}: ${character}`).to.equal(undefined);
        }
      }
    }
  });

  it('does not open if it is cut to any length', () => {
    const text = seal.seal(content);
    for (const length of text.split('').keys()) {
      expect(seal.open(text.slice(0, length))).to.equal(undefined);
      if (length > 0) expect(seal.open(text.slice(length))).to.equal(undefined);
    }
  });

  for (const [change, alter] of [
    ['longer', (text: string) => `${text}AAAA`],
    ['padded', (text: string) => `${text}==`],
    ['preceded by a space', (text: string) => ` ${text}`],
    ['followed by a line break', (text: string) => `${text}\n`],
    ['doubled', (text: string) => text + text],
    ['of another version', (text: string) => text.replace('lr1_', 'lr2_')],
    ['in base64', (text: string) => Buffer.from(text, 'base64url').toString('base64')],
  ] as const) {
    it(`does not open if it is ${change}`, () => {
      // With both characters in which base64 and base64url differ.
      const text = seal.seal({ name: '~'.repeat(3000) });
      expect(seal.open(alter(text))).to.equal(undefined);
    });
  }

  it('does not open if its parts come from two texts', () => {
    const one = Buffer.from(seal.seal(content), 'base64url');
    const other = Buffer.from(seal.seal({ name: 'another' }), 'base64url');
    for (const cut of one.keys()) {
      const mixed = Buffer.concat([one.subarray(0, cut), other.subarray(cut)]);
      // The last bytes of both can be the same.
      if (mixed.equals(one) || mixed.equals(other)) continue;
      expect(seal.open(mixed.toString('base64url'))).to.equal(undefined);
    }
  });

  it('opens only for the audience that it was sealed for', () => {
    const audience = fc.array(fc.string({ maxLength: 3 }), { maxLength: 3 });
    fc.assert(
      fc.property(audience, audience, (one, two) => {
        const same = JSON.stringify(one) === JSON.stringify(two);
        const opened = seal.open(seal.seal(content, ...one), ...two);
        expect(opened).to.deep.equal(same ? content : undefined);
      }),
      { numRuns: 500 },
    );
    const text = seal.seal(content, 'client', 'https://relay.example');
    for (const other of [
      [],
      ['client'],
      ['clienth', 'ttps://relay.example'],
      ['https://relay.example', 'client'],
      ['client', 'https://relay.example', ''],
    ]) {
      expect(seal.open(text, ...other)).to.equal(undefined);
    }
  });

  it('opens only for its purpose, even with the same key', () => {
    expect(createSeal('other', [key], schema).open(seal.seal(content))).to.equal(undefined);
    expect(seal.open(createSeal('other', [key], schema).seal(content))).to.equal(undefined);
  });

  it('opens if it was sealed with the previous key, but not after that key is removed', () => {
    const old = createSeal('test', [previous], schema).seal(content);
    expect(seal.open(old)).to.deep.equal(content);
    expect(createSeal('test', [key], schema).open(old)).to.equal(undefined);
  });

  it('is sealed with the current key', () => {
    const text = seal.seal(content);
    expect(createSeal('test', [key], schema).open(text)).to.deep.equal(content);
    expect(createSeal('test', [previous], schema).open(text)).to.equal(undefined);
  });

  it('does not open if its content does not match its purpose', () => {
    const any = createSeal('test', [key], v.unknown());
    for (const other of [{ title: 'a login' }, { name: 7 }, ['name'], null, 'name', 7]) {
      expect(seal.open(any.seal(other))).to.equal(undefined);
    }
    expect(seal.open(any.seal(seal.seal(content)))).to.equal(undefined);
  });

  it('opens if it has up to 12 KiB, and a longer text is refused before it is decrypted', () => {
    const longest = { name: 'x'.repeat(9162) };
    expect(seal.seal(longest).length).to.equal(12_288);
    expect(seal.open(seal.seal(longest))).to.deep.equal(longest);
    expect(seal.open(seal.seal({ name: 'x'.repeat(9163) }))).to.equal(undefined);
  });

  it('is known by its beginning, with whatever key it was sealed, even if it is altered', () => {
    const sealed = createSeal('other', [randomBytes(32)], schema).seal(content);
    for (const token of [sealed, `${sealed}=`, `"${sealed}"`, sealed.slice(0, -1)]) {
      expect(looksSealed(token)).to.equal(true);
    }
    for (const token of ['', 'lr1', 'gho_16C7e42F292c6912E7710c838347Ae178B4a']) {
      expect(looksSealed(token)).to.equal(false);
    }
    fc.assert(
      fc.property(fc.base64String({ maxLength: 200 }), (token) => {
        expect(looksSealed(token)).to.equal(false);
      }),
    );
  });
});
