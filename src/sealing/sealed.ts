import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { limits } from '../limits.ts';
import type { KeyRing } from './keys.ts';

// Three bytes that every sealed text begins with. In base64url they are `lr1_`. The digit is the version.
const mark = Buffer.from('lr1_', 'base64url');
const saltLength = 12;
const nonceLength = 12;
const tagLength = 16;
const headLength = mark.length + saltLength + nonceLength;
const algorithm = 'aes-256-gcm';

/** Whether a text is or was a sealed one, of any relay or key. It may be altered. */
export function looksSealed(text: string): boolean {
  return /^\W*lr1_/.test(text);
}

/**
 * Seals content into texts that only a holder of the keys can read or make, with AES-256-GCM. Each text has its own
 * key, which HMAC-SHA-256 derives from the first key and 96 random bits, and its own nonce of 96 random bits. So the
 * number of texts has no practical limit.
 *
 * @param purpose what the texts are for: no other seal opens them, even with the same keys
 * @param keys the first key seals; all keys open, so that keys can be rotated
 * @param schema the form of the content. It must not change the content.
 * @see NIST SP 800-38D, NIST SP 800-108 §4
 */
export function createSeal<Content>(
  purpose: string,
  keys: KeyRing,
  schema: v.GenericSchema<unknown, Content>,
  longest: number = limits.sealedLength,
) {
  return {
    /** @param audience who may open the text: not part of it, and the same when it is opened */
    seal(content: Content, ...audience: readonly string[]): string {
      const random = randomBytes(saltLength + nonceLength);
      const { key, nonce } = keyAndNonce(keys[0], random);
      const cipher = createCipheriv(algorithm, key, nonce);
      cipher.setAAD(additionalData(purpose, audience));
      const ciphertext = cipher.update(JSON.stringify(content), 'utf8');
      cipher.final();
      return Buffer.concat([mark, random, ciphertext, cipher.getAuthTag()]).toString('base64url');
    },

    /** @returns undefined if the text was not sealed with one of the keys for this purpose and audience */
    open(text: string, ...audience: readonly string[]): Content | undefined {
      const bytes = bytesOf(text, longest);
      if (bytes === undefined) return undefined;
      const data = additionalData(purpose, audience);
      for (const key of keys) {
        const plaintext = decrypt(key, bytes, data);
        if (plaintext === undefined) continue;
        const content = v.safeParse(schema, JSON.parse(plaintext));
        return content.success ? content.output : undefined;
      }
      return undefined;
    },
  };
}

/** @returns undefined if it is not one of the key, or if any byte was altered */
function decrypt(ofPurpose: Buffer, bytes: Buffer, data: Buffer): string | undefined {
  const { key, nonce } = keyAndNonce(ofPurpose, bytes.subarray(mark.length, headLength));
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagLength });
  decipher.setAAD(data);
  decipher.setAuthTag(bytes.subarray(-tagLength));
  const plaintext = decipher.update(bytes.subarray(headLength, -tagLength));
  try {
    decipher.final();
  } catch {
    return undefined;
  }
  return plaintext.toString();
}

function keyAndNonce(ofPurpose: Buffer, random: Buffer) {
  return {
    key: createHmac('sha256', ofPurpose).update(random.subarray(0, saltLength)).digest(),
    nonce: random.subarray(saltLength),
  };
}

function additionalData(purpose: string, audience: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify([purpose, ...audience]));
}

/** @returns undefined if the text does not have the form of a sealed one, in the only spelling that `seal` writes */
function bytesOf(text: string, longest: number): Buffer | undefined {
  if (text.length > longest) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  const isMarked = bytes.subarray(0, mark.length).equals(mark);
  if (!isMarked || bytes.length < headLength + tagLength) return undefined;
  // The decoder skips other characters and unused bits.
  return bytes.toString('base64url') === text ? bytes : undefined;
}
