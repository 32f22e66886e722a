import { createDecipheriv } from 'node:crypto';
import { CompactEncrypt } from 'jose';
import * as v from 'valibot';
import type { KeyRing } from '../keys.ts';
import { limits } from '../limits.ts';

/**
 * Seals content so that only the holder of the keys can read it or make it. Everyone else sees an opaque
 * text.
 *
 * @see RFC 7516 §7.1
 */
export interface Seal<Content> {
  seal(content: Content): Promise<string>;
  /** @returns undefined if the text was not sealed with one of the keys, or not with such a content */
  open(text: string): Promise<Content | undefined>;
}

const header = { alg: 'dir', enc: 'A256GCM' };
const encodedHeader = Buffer.from(JSON.stringify(header)).toString('base64url');
/** The header is authenticated too. @see RFC 7516 §5.1 */
const authenticatedData = Buffer.from(encodedHeader, 'ascii');
// In bytes. @see RFC 7518 §5.3
const ivLength = 12;
const tagLength = 16;

/**
 * Creates the seal of one purpose.
 *
 * @param keys the first key seals; all keys open, so that keys can be rotated. Each purpose has its own.
 * @param schema the form of the content. It must not change the content.
 */
export function createSeal<Content>(
  keys: KeyRing,
  schema: v.GenericSchema<Content>,
): Seal<Content> {
  return {
    seal(content) {
      return new CompactEncrypt(Buffer.from(JSON.stringify(content)))
        .setProtectedHeader(header)
        .encrypt(keys[0]);
    },
    async open(text) {
      const sealed = parse(text);
      if (sealed === undefined) return undefined;
      const plaintext = firstOf(keys, (key) => decrypt(sealed, key));
      if (plaintext === undefined) return undefined;
      const content = v.safeParse(schema, JSON.parse(plaintext.toString()));
      return content.success ? content.output : undefined;
    },
  };
}

/** The parts of a sealed text. */
interface Sealed {
  readonly iv: Buffer;
  readonly ciphertext: Buffer;
  readonly tag: Buffer;
}

/**
 * Parses a text that looks like one that `seal` has written: no other algorithm, no compression, no extension.
 * No text has a second spelling: the last character of base64url has unused bits.
 */
function parse(text: string): Sealed | undefined {
  if (text.length > limits.sealedLength) return undefined;
  const [first, key, ...encoded] = text.split('.');
  if (first !== encodedHeader || key !== '' || encoded.length !== 3) return undefined;
  const parts = encoded.map((part) => Buffer.from(part, 'base64url'));
  if (parts.some((part, index) => part.toString('base64url') !== encoded[index])) return undefined;
  const [iv, ciphertext, tag] = parts;
  if (iv?.length !== ivLength || tag?.length !== tagLength || !ciphertext) return undefined;
  return { iv, ciphertext, tag };
}

/**
 * Decrypts a sealed text at once. Web Crypto, which the library uses, takes as long as a whole user lookup: it
 * asks another thread.
 *
 * @returns undefined if the text was not sealed with the key
 * @see RFC 7516 §5.2
 */
function decrypt({ iv, ciphertext, tag }: Sealed, key: Buffer): Buffer | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagLength });
  decipher.setAAD(authenticatedData);
  decipher.setAuthTag(tag);
  const plaintext = decipher.update(ciphertext);
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch {
    return undefined;
  }
}

function firstOf<Item, Result>(
  items: readonly Item[],
  find: (item: Item) => Result | undefined,
): Result | undefined {
  for (const item of items) {
    const result = find(item);
    if (result !== undefined) return result;
  }
  return undefined;
}
