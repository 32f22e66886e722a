import { isUtf8 } from 'node:buffer';

/**
 * Parses the bytes of a response as a JSON object.
 *
 * @returns undefined if the bytes are anything else: not UTF-8, not JSON, an array, null, a scalar
 */
export function parseJsonObject(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  if (!isUtf8(bytes)) return undefined;
  try {
    const value: unknown = JSON.parse(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(),
    );
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a value is an object, and no array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
