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
/** Bytes of content that was compressed. The relay itself has sealed it, so it is never longer. */
const longestUnpacked = 128 * 1024;

/** Whether a text looks as if a relay had sealed it, with any key, even if it was altered since. */
export function looksSealed(text: string): boolean {
  return /^\W*lr1_/.test(text);
}

/**
 * Creates functions that seal content into texts, which only a holder of the keys can read or make, and open them. Each
 * text is encrypted by AES-256-GCM with its own key, which HMAC-SHA-256 derives from the first key and 96 random bits,
 * and its own nonce of 96 random bits. With one key for all texts, random nonces would repeat too soon.
 *
 * @param purpose the purpose of the texts. No seal of another purpose opens them, even with the same keys
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
    /** Seals content. @param boundTo words outside the text, without which `open` does not open it */
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

    /** Opens a text. @returns undefined unless one of the keys sealed it for this purpose, bound to these words */
    open: (text: string, ...boundTo: readonly string[]) => prepareToOpen(text)(...boundTo),

    /**
     * Prepares to open a text that may be bound to one of several lists of words. Returns a function that tries one
     * list, and does not repeat the other steps.
     */
    prepareToOpen,
  };

  /** Decodes a text. @returns a function that opens it if it is bound to these words */
  function prepareToOpen(text: string): (...boundTo: readonly string[]) => Content | undefined {
    const bytes = decodeSealed(text, longest);
    if (bytes === undefined) return () => undefined;
    const random = bytes.subarray(mark.length, headLength);
    const textKeys: (TextKey | undefined)[] = [];
    return (...boundTo) => {
      const data = encodeBinding(purpose, boundTo);
      for (const [index, key] of keys.entries()) {
        textKeys[index] ??= deriveKeyAndNonce(key, random);
        const plaintext = decrypt(textKeys[index], bytes, data);
        if (plaintext === undefined) continue;
        const content = v.safeParse(schema, JSON.parse(`${unpack(plaintext)}`));
        return content.success ? content.output : undefined;
      }
      return undefined;
    };
  }
}

/** Decrypts a text. @returns undefined if it was sealed with another key or other `data`, or any byte was altered */
function decrypt({ key, nonce }: TextKey, bytes: Buffer, data: Buffer): Buffer | undefined {
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

type TextKey = ReturnType<typeof deriveKeyAndNonce>;

/** Derives the key of a text from its salt, and takes its nonce. @param random the salt and the nonce from its head */
function deriveKeyAndNonce(keyOfPurpose: Buffer, random: Buffer) {
  return {
    key: createHmac('sha256', keyOfPurpose).update(random.subarray(0, saltLength)).digest(),
    nonce: random.subarray(saltLength),
  };
}

/**
 * Encodes the data that GCM authenticates without encrypting it. As JSON, different lists of words never give the same
 * bytes.
 */
function encodeBinding(purpose: string, boundTo: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify([purpose, ...boundTo]));
}

/** Decodes a text. @returns undefined if it does not have the form of a sealed text, in the spelling of `seal` */
function decodeSealed(text: string, longest: number): Buffer | undefined {
  if (text.length > longest) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  const isMarked = bytes.subarray(0, mark.length).equals(mark);
  if (!isMarked || bytes.length < headLength + tagLength) return undefined;
  // The decoder skips characters outside base64url, and ignores unused bits, so many spellings would open.
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/**
 * Whether a relay can have issued something with these times. A thief with a stolen key can seal any time, but gains no
 * text that is valid for longer than the relay's own.
 *
 * @param from the time of issue, in seconds since 1970
 * @param until the end, in seconds since 1970
 * @param longest seconds for which it can be valid
 */
export function couldBeIssued(from: number, until: number, longest: number, now: Clock): boolean {
  return from <= nowInSeconds(now) + clockSkew && until <= from + longest;
}
