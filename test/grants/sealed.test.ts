import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { CompactEncrypt, type CompactJWEHeaderParameters, CompactSign } from 'jose';
import * as v from 'valibot';
import { createSeal } from '../../src/grants/sealed.ts';

const key = randomBytes(32);
const previous = randomBytes(32);
const schema = v.object({ name: v.string() });
const seal = createSeal([key, previous], schema);
const content = { name: 'a login' };
const extension = 'https://example.com/must';

/** A text that is written with the key, but in another way than the relay does. */
async function encrypted(
  header: Partial<CompactJWEHeaderParameters>,
  plaintext: string = JSON.stringify(content),
): Promise<string> {
  return await new CompactEncrypt(Buffer.from(plaintext))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', ...header })
    .encrypt(key, { crit: { [extension]: true } });
}

describe('a sealed text', () => {
  it('opens to its content', async () => {
    expect(await seal.open(await seal.seal(content))).to.deep.equal(content);
  });

  it('does not show its content, and differs each time', async () => {
    const texts = [await seal.seal(content), await seal.seal(content)];
    expect(texts[0]).not.to.equal(texts[1]);
    for (const part of texts.flatMap((text) => text.split('.'))) {
      expect(Buffer.from(part, 'base64url').toString('latin1')).not.to.contain('login');
    }
  });

  it('does not open if a bit of a byte is changed', async () => {
    const text = await seal.seal(content);
    const parts = text.split('.');
    for (const [index, part] of parts.entries()) {
      const bytes = Buffer.from(part, 'base64url');
      for (const position of bytes.keys()) {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(changed.readUInt8(position) ^ (1 << (position % 8)), position);
        const altered = parts.with(index, changed.toString('base64url')).join('.');
        expect(await seal.open(altered), `part ${index}, byte ${position}`).to.equal(undefined);
      }
    }
  });

  it('does not open if a character is changed, even one whose bits are unused', async () => {
    const text = await seal.seal(content);
    for (const position of text.split('').keys()) {
      for (const character of ['A', 'B', 'Q', '_', '=', ' ', '\n', 'é', '']) {
        if (character === text[position]) continue;
        const altered = text.slice(0, position) + character + text.slice(position + 1);
        expect(await seal.open(altered), `${position}: ${character}`).to.equal(undefined);
      }
    }
  });

  for (const [change, alter] of [
    ['cut', (text: string) => text.slice(0, -1)],
    ['longer', (text: string) => `${text}A`],
    ['padded', (text: string) => `${text}==`],
    ['preceded by a space', (text: string) => ` ${text}`],
    ['followed by a line break', (text: string) => `${text}\n`],
    ['given another part', (text: string) => `${text}.AAAA`],
    ['robbed of a part', (text: string) => text.slice(0, text.lastIndexOf('.'))],
    ['given an encrypted key', (text: string) => text.replace('..', `.${'A'.repeat(43)}.`)],
    ['emptied', () => ''],
  ] as const) {
    it(`does not open if it is ${change}`, async () => {
      expect(await seal.open(alter(await seal.seal(content)))).to.equal(undefined);
    });
  }

  it('does not open if its parts come from two texts', async () => {
    const [head, , ivOfOne, , tagOfOne] = (await seal.seal(content)).split('.');
    const [, , iv, ciphertext, tag] = (await seal.seal({ name: 'another' })).split('.');
    for (const parts of [
      [ivOfOne, ciphertext, tag],
      [iv, ciphertext, tagOfOne],
    ]) {
      expect(await seal.open([head, '', ...parts].join('.'))).to.equal(undefined);
    }
  });

  it('opens if it was sealed with the previous key, but not after that key is removed', async () => {
    const old = await createSeal([previous], schema).seal(content);
    expect(await seal.open(old)).to.deep.equal(content);
    expect(await createSeal([key], schema).open(old)).to.equal(undefined);
  });

  it('is sealed with the current key', async () => {
    const text = await seal.seal(content);
    expect(await createSeal([key], schema).open(text)).to.deep.equal(content);
    expect(await createSeal([previous], schema).open(text)).to.equal(undefined);
  });

  const others: Readonly<Record<string, Partial<CompactJWEHeaderParameters>>> = {
    'another encryption': { enc: 'A128CBC-HS256' },
    'another key management': { alg: 'A256KW' },
    'key management with GCM': { alg: 'A256GCMKW' },
    compression: { zip: 'DEF' },
    'a critical extension': { crit: [extension], [extension]: true },
    'a type': { typ: 'JWT' },
  };
  for (const [other, header] of Object.entries(others)) {
    it(`does not open if it was written with ${other}, even with the right key`, async () => {
      expect(await seal.open(await encrypted(header))).to.equal(undefined);
    });
  }

  it('does not open if it is signed instead of sealed', async () => {
    const text = await new CompactSign(Buffer.from(JSON.stringify(content)))
      .setProtectedHeader({ alg: 'HS256' })
      .sign(key);
    expect(await seal.open(text)).to.equal(undefined);
  });

  it('opens if it has the algorithm of the relay and the right key', async () => {
    expect(await seal.open(await encrypted({}))).to.deep.equal(content);
  });

  it('does not open if its content is not that of its purpose', async () => {
    for (const other of [{ title: 'a login' }, { name: 7 }, ['name'], null, 'name', 7]) {
      expect(await seal.open(await encrypted({}, JSON.stringify(other)))).to.equal(undefined);
    }
  });

  it('does not open a sealed text inside it', async () => {
    const nested = JSON.stringify(await seal.seal(content));
    expect(await seal.open(await encrypted({}, nested))).to.equal(undefined);
  });

  it('opens up to 12 KiB, and a longer one is refused before it is decrypted', async () => {
    const longest = { name: 'x'.repeat(9144) };
    const text = await seal.seal(longest);
    expect(text.length).to.be.within(12_280, 12_288);
    expect(await seal.open(text)).to.deep.equal(longest);
    const longer = await seal.seal({ name: 'x'.repeat(9148) });
    expect(longer.length).to.be.within(12_289, 12_300);
    expect(await seal.open(longer)).to.equal(undefined);
  });
});
