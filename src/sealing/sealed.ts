import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as v from 'valibot';
import { type Clock, clockSkew, secondsOf } from '../clock.ts';
import { limits } from '../limits.ts';
import type { KeyRing } from './keys.ts';

// Every sealed text begins with these three bytes, `lr1_` in base64url. The digit is the version.
const mark = Buffer.from('lr1_', 'base64url');
const saltLength = 12;
const nonceLength = 12;
const tagLength = 16;
const headLength = mark.length + saltLength + nonceLength;
const algorithm = 'aes-256-gcm';
/** Bytes of a compressed content. Only the relay makes one, so nothing longer can come. */
const longestUnpacked = 128 * 1024;

/** Whether a text was sealed by some relay, with any key, even if it was altered since. */
export function looksSealed(text: string): boolean {
  return /^\W*lr1_/.test(text);
}

/**
 * Seals content into texts that only a holder of the keys can read or make, with AES-256-GCM. Each text has its own
 * key, which HMAC-SHA-256 derives from the first key and 96 random bits, and its own nonce of 96 random bits: with one
 * key for all texts, random nonces would repeat too soon.
 *
 * @param purpose what the texts are for: no other seal opens them, even with the same keys
 * @param schema the form of the content. It must not change the content.
 * @param options.longest characters of a text that is opened
 * @param options.isPacked whether the content is compressed. A text then tells by its length how well its content
 *   compresses, so no content may have a secret beside what somebody else chose
 * @see NIST SP 800-38D, NIST SP 800-108 §4
 */
export function createSeal<Content>(
  purpose: string,
  keys: KeyRing,
  schema: v.GenericSchema<unknown, Content>,
  { longest = limits.sealedLength, isPacked = false }: { readonly longest?: number; readonly isPacked?: boolean } = {},
) {
  const pack = (json: string) => (isPacked ? deflateRawSync(json, { level: 1 }) : json);
  const unpack = (plaintext: Buffer) =>
    isPacked ? inflateRawSync(plaintext, { maxOutputLength: longestUnpacked }) : plaintext;
  return {
    /** @param boundTo words that the text does not contain, and that `open` must be given again */
    seal(content: Content, ...boundTo: readonly string[]): string {
      const random = randomBytes(saltLength + nonceLength);
      const { key, nonce } = deriveKeyAndNonce(keys[0], random);
      const cipher = createCipheriv(algorithm, key, nonce);
      cipher.setAAD(encodeBinding(purpose, boundTo));
      const plaintext = pack(JSON.stringify(content));
      const ciphertext = typeof plaintext === 'string' ? cipher.update(plaintext, 'utf8') : cipher.update(plaintext);
      cipher.final();
      return Buffer.concat([mark, random, ciphertext, cipher.getAuthTag()]).toString('base64url');
    },

    /** @returns undefined if the text was not sealed with one of the keys, for this purpose and bound to these words */
    open: (text: string, ...boundTo: readonly string[]) => reader(text)(...boundTo),

    /** Opens a text that may be bound to one of many lists of words. Only the last step is made for each list. */
    reader,
  };

  function reader(text: string): (...boundTo: readonly string[]) => Content | undefined {
    const bytes = decodeBytes(text, longest);
    if (bytes === undefined) return () => undefined;
    const head = bytes.subarray(mark.length, headLength);
    const derived: (Derived | undefined)[] = [];
    return (...boundTo) => {
      const data = encodeBinding(purpose, boundTo);
      for (const [index, key] of keys.entries()) {
        derived[index] ??= deriveKeyAndNonce(key, head);
        const plaintext = decrypt(derived[index], bytes, data);
        if (plaintext === undefined) continue;
        const content = v.safeParse(schema, JSON.parse(`${unpack(plaintext)}`));
        return content.success ? content.output : undefined;
      }
      return undefined;
    };
  }
}

/** @returns undefined if another key or other `data` sealed the bytes, or if any byte was altered */
function decrypt({ key, nonce }: Derived, bytes: Buffer, data: Buffer): Buffer | undefined {
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagLength });
  decipher.setAAD(data);
  decipher.setAuthTag(bytes.subarray(-tagLength));
  const plaintext = decipher.update(bytes.subarray(headLength, -tagLength));
  try {
    decipher.final();
  } catch {
    return undefined;
  }
  return plaintext;
}

type Derived = ReturnType<typeof deriveKeyAndNonce>;

/** The key and the nonce of one text. @param random the salt and the nonce, as they are at its head */
function deriveKeyAndNonce(keyOfPurpose: Buffer, random: Buffer) {
  return {
    key: createHmac('sha256', keyOfPurpose).update(random.subarray(0, saltLength)).digest(),
    nonce: random.subarray(saltLength),
  };
}

/** What GCM authenticates and does not encrypt. As JSON, so that no two lists of words give the same bytes. */
function encodeBinding(purpose: string, boundTo: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify([purpose, ...boundTo]));
}

/** @returns undefined if the text does not have the form of a sealed one, in the only spelling that `seal` writes */
function decodeBytes(text: string, longest: number): Buffer | undefined {
  if (text.length > longest) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  const isMarked = bytes.subarray(0, mark.length).equals(mark);
  if (!isMarked || bytes.length < headLength + tagLength) return undefined;
  // The decoder skips what is not base64url, and ignores unused bits: many spellings would open.
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/**
 * Whether a relay can have issued something that is good for a time. What is sealed with a stolen key can hold any time: it
 * must not be good for longer than what the relay seals.
 *
 * @param from when it was issued, in seconds since 1970
 * @param until when it ends
 * @param longest seconds for which it can be good
 */
export function isPossible(from: number, until: number, longest: number, now: Clock): boolean {
  return from <= secondsOf(now) + clockSkew && until <= from + longest;
}
