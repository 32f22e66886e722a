import { isUtf8 } from 'node:buffer';
import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import type { ExtraParameters } from '../providers/provider.ts';

/** A decoded query. A value that cannot be decoded exactly is not well-formed Unicode. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

// A lone surrogate, which UTF-8 never decodes to.
const undecodable = '\u{D800}';
const decodable = /^(?:[\x21-\x24\x26-\x7e]|%[\da-f]{2})*$/i;
const percentSign = 0x25;
const plusSign = 0x2b;
const space = 0x20;

/**
 * Decodes a form-encoded query: percent-encoded UTF-8, `+` for a space. A stray `%`, bytes that are not UTF-8, and raw
 * bytes beyond ASCII result in a value whose `isWellFormed()` is false.
 *
 * @returns the first 100 parameters
 * @see RFC 6749 appendix B
 */
export function parseQuery(query: string): Query {
  const parameters: Record<string, string | string[]> = Object.create(null);
  for (const pair of query.split('&', limits.parameters)) {
    if (pair === '') continue;
    const [, encoded = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
    const name = decode(encoded);
    const before = parameters[name];
    parameters[name] = before === undefined ? decode(value) : [before, decode(value)].flat();
  }
  return parameters;
}

/** @throws {RelayError} `parameters_too_many` if the query has more than are parsed */
export function expectFewParameters(query: string): void {
  const { length } = query.split('&', limits.parameters + 1);
  if (length > limits.parameters) throw new RelayError('parameters_too_many');
}

/** The value of a parameter, if there is one. @throws {RelayError} `parameter_repeated`. @see RFC 6749 §3.1 */
export function readSingle(value: Query[string]): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw new RelayError('parameter_repeated');
}

/** Appends parameters to a URL. Its existing query stays unchanged. */
export function withParameters(url: string, parameters: Readonly<Record<string, string>> | ExtraParameters): string {
  const separator = /[?&]$/.test(url) ? '' : url.includes('?') ? '&' : '?';
  return `${url}${separator}${new URLSearchParams(parameters)}`;
}

export function optional(name: string, value: string | undefined): ExtraParameters {
  return value === undefined ? [] : [[name, value]];
}

/** Decodes a form-encoded value. The result is not well-formed if the value cannot be decoded exactly. */
export function decode(text: string): string {
  // Without exceptions: throwing would take longer than all of this, and a query can have thousands of bad values.
  if (!decodable.test(text)) return undecodable;
  if (!/[%+]/.test(text)) return text;
  const bytes = Buffer.from(text, 'latin1');
  let length = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    let byte = bytes[index] ?? 0;
    if (byte === plusSign) byte = space;
    if (byte === percentSign) byte = 16 * hexDigit(bytes[++index]) + hexDigit(bytes[++index]);
    bytes[length++] = byte;
  }
  const decoded = bytes.subarray(0, length);
  return isUtf8(decoded) ? decoded.toString() : undecodable;
}

/** @param byte the character of a digit */
function hexDigit(byte = 0): number {
  // The low bits of `A` and `a` are 1.
  return (byte & 15) + (byte > 0x39 ? 9 : 0);
}
