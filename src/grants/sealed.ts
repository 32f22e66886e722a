import { CompactEncrypt, compactDecrypt, errors } from 'jose';
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
const options = {
  keyManagementAlgorithms: [header.alg],
  contentEncryptionAlgorithms: [header.enc],
  maxDecompressedLength: 0,
};

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
  async function decrypt(text: string): Promise<Uint8Array | undefined> {
    for (const key of keys) {
      try {
        return (await compactDecrypt(text, key, options)).plaintext;
      } catch (error) {
        if (!(error instanceof errors.JOSEError)) throw error;
      }
    }
    return undefined;
  }

  return {
    seal(content) {
      return new CompactEncrypt(Buffer.from(JSON.stringify(content)))
        .setProtectedHeader(header)
        .encrypt(keys[0]);
    },
    async open(text) {
      if (!hasForm(text)) return undefined;
      const plaintext = await decrypt(text);
      if (plaintext === undefined) return undefined;
      const content = v.safeParse(schema, JSON.parse(Buffer.from(plaintext).toString()));
      return content.success ? content.output : undefined;
    },
  };
}

/**
 * Whether a text looks like one that `seal` has written. So no other algorithm, no compression and no
 * extension reaches the library, and no text has a second spelling: the last character of base64url has
 * unused bits.
 */
function hasForm(text: string): boolean {
  if (text.length > limits.sealedLength) return false;
  const [first, key, ...encoded] = text.split('.');
  if (first !== encodedHeader || key !== '' || encoded.length !== 3) return false;
  return encoded.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}
