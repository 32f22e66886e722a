import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as v from 'valibot';
import { type Clock, clockSkew, nowInSeconds } from '../clock.ts';
import { limits } from '../limits.ts';
import type { KeyRing } from './keys.ts';

// Every sealed text begins with these bytes, `lr1_` in base64url. The digit is the version.
const mark = Buffer.from('lr1_', 'base64url');
const saltLength = 12;
const nonceLength = 12;
const tagLength = 16;
const headLength = mark.length + saltLength + nonceLength;
const algorithm = 'aes-256-gcm';
/** Bytes of compressed content. Nothing longer can come, because only the relay compresses. */
const longestUnpacked = 128 * 1024;

/** Whether a relay sealed a text with any key, even if it was altered since. */
export function looksSealed(text: string): boolean {
  return /^\W*lr1_/.test(text);
}

/**
 * Seals content into texts that only a holder of the keys can read or make, with AES-256-GCM. Each text has its own
 * key, which HMAC-SHA-256 derives from the first key and 96 random bits, and its own nonce of 96 random bits. With one
 * key for all texts, random nonces would repeat too soon.
 *
 * @param purpose of the texts: no other seal opens them, even with the same keys
 * @param schema the form of the content, which it must not change
 * @param options.longest the longest text that is opened
 * @param options.isPacked whether to compress the content. The length of a text then reveals how well its content
 *   compresses, so a secret must never be beside text that an attacker chose
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
    /** @param boundTo words outside the text, which `open` must be given again */
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

    /** @returns undefined unless one of the keys sealed the text for this purpose, bound to these words */
    open: (text: string, ...boundTo: readonly string[]) => reader(text)(...boundTo),

    /**
     * Opens a text that may be bound to one of several lists of words. Only the last step is repeated for each list.
     */
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

/** The key and the nonce of one text. @param random the salt and the nonce from its head */
function deriveKeyAndNonce(keyOfPurpose: Buffer, random: Buffer) {
  return {
    key: createHmac('sha256', keyOfPurpose).update(random.subarray(0, saltLength)).digest(),
    nonce: random.subarray(saltLength),
  };
}

/**
 * The data that GCM authenticates without encrypting. JSON, so that different lists of words never give the same bytes.
 */
function encodeBinding(purpose: string, boundTo: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify([purpose, ...boundTo]));
}

/** @returns undefined if the text does not have the form of a sealed one, in the spelling of `seal` */
function decodeBytes(text: string, longest: number): Buffer | undefined {
  if (text.length > longest) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  const isMarked = bytes.subarray(0, mark.length).equals(mark);
  if (!isMarked || bytes.length < headLength + tagLength) return undefined;
  // The decoder skips characters outside base64url, and ignores unused bits, so many spellings would open.
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/**
 * Whether a relay can have issued something with these times. A thief with a stolen key can seal any time, and must not
 * gain more than what the relay seals itself.
 *
 * @param from when it was issued, in seconds since 1970
 * @param until when it ends
 * @param longest seconds for which it can be valid
 */
export function isPossible(from: number, until: number, longest: number, now: Clock): boolean {
  return from <= nowInSeconds(now) + clockSkew && until <= from + longest;
}
