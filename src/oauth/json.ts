import { isUtf8 } from 'node:buffer';

/** The fields of a JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Parses bytes as a JSON object. @returns undefined if they are anything else: not UTF-8, an array, null, a scalar */
export function parseJsonObject(bytes: Uint8Array): JsonObject | undefined {
  const value = parseJson(bytes);
  return isObject(value) ? value : undefined;
}

/** Parses bytes as JSON. @returns undefined if they are not UTF-8, or not JSON */
export function parseJson(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  } catch {
    return undefined;
  }
}

/** Whether a value is an object, and no array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
