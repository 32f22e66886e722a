import { isUtf8 } from 'node:buffer';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Parses bytes as a JSON object. @returns undefined if they are anything else: not UTF-8, an array, null, a scalar */
export function parseJsonObject(bytes: Uint8Array): JsonObject | undefined {
  const value = parseJson(bytes);
  return isObject(value) ? value : undefined;
}

const byteOrderMark = '\uFEFF';

/**
 * Parses JSON in UTF-8. A byte order mark, with which some servers begin, is skipped.
 *
 * @returns undefined if the bytes are something else
 * @see RFC 8259 §8.1
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) return undefined;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  try {
    return JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text);
  } catch {
    return undefined;
  }
}

/** Whether a value is an object, but not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
