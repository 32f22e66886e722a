import { isUtf8 } from 'node:buffer';
import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import type { ExtraParameters } from '../providers/provider.ts';

/** A decoded query. A value that cannot be decoded exactly is a text whose `isWellFormed()` is false. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

// A lone surrogate, which never results from UTF-8.
const undecodable = '\u{D800}';
// Visible ASCII, with every percent sign in front of two hexadecimal digits.
const decodable = /^(?:[\x21-\x24\x26-\x7e]|%[\da-f]{2})*$/i;
const percentSign = 0x25;
const plusSign = 0x2b;
const space = 0x20;

/**
 * Decodes a form-encoded query: percent-encoded UTF-8, with `+` for a space. A stray `%`, bytes that are not UTF-8, and
 * raw bytes beyond ASCII result in a value whose `isWellFormed()` is false.
 *
 * @returns the first 100 parameters
 * @see RFC 6749 appendix B
 */
export function parseQuery(query: string): Query {
  const parameters: Record<string, string | string[]> = Object.create(null);
  for (const pair of query.split('&', limits.parameters)) {
    if (pair === '') continue;
    const [, encodedName = '', encodedValue = ''] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
    const name = decodeFormValue(encodedName);
    const value = decodeFormValue(encodedValue);
    const earlier = parameters[name];
    parameters[name] = earlier === undefined ? value : [earlier, value].flat();
  }
  return parameters;
}

/** @throws {RelayError} `parameters_too_many` if the query has more parameters than are parsed */
export function expectFewParameters(query: string): void {
  const { length } = query.split('&', limits.parameters + 1);
  if (length > limits.parameters) throw new RelayError('parameters_too_many');
}

/** Returns the only value of a parameter, or undefined. @throws {RelayError} `parameter_repeated` @see RFC 6749 §3.1 */
export function readSingle(value: Query[string]): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw new RelayError('parameter_repeated');
}

/** Appends parameters to a URL. Its existing query stays unchanged. */
export function withParameters(url: string, parameters: Readonly<Record<string, string>> | ExtraParameters): string {
  const hasSeparator = /[?&]$/.test(url);
  const separator = url.includes('?') ? '&' : '?';
  return `${url}${hasSeparator ? '' : separator}${new URLSearchParams(parameters)}`;
}

/** Returns a list with the parameter, or an empty list without a value. */
export function optionalParameter(name: string, value: string | undefined): ExtraParameters {
  return value === undefined ? [] : [[name, value]];
}

/** Decodes a form-encoded value. The result is not well-formed if the value cannot be decoded exactly. */
export function decodeFormValue(text: string): string {
  // Do not use decodeURIComponent, which throws. A query can have thousands of bad values, and to throw takes longer
  // than all of this.
  if (!decodable.test(text)) return undecodable;
  if (!/[%+]/.test(text)) return text;
  // Decode in place, because the result is never longer.
  const bytes = Buffer.from(text, 'latin1');
  let length = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    let byte = bytes[index] ?? 0;
    if (byte === plusSign) byte = space;
    if (byte === percentSign) {
      byte = 16 * hexDigitValue(bytes[index + 1]) + hexDigitValue(bytes[index + 2]);
      index += 2;
    }
    bytes[length] = byte;
    length += 1;
  }
  const decoded = bytes.subarray(0, length);
  return isUtf8(decoded) ? decoded.toString() : undecodable;
}

/** @param character the code of a hexadecimal digit */
function hexDigitValue(character = 0): number {
  const isLetter = character > 0x39;
  const lowBits = character & 15;
  // The low bits of a digit are its value. The low bits of `A` and `a`, whose value is 10, are 1.
  return isLetter ? lowBits + 9 : lowBits;
}
