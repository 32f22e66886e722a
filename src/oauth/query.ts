import { parse } from 'node:querystring';
import { RelayError } from '../errors.ts';
import type { ExtraParameters } from '../providers/provider.ts';

/** A decoded query. A value that cannot be decoded exactly is not well-formed Unicode. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

// A lone surrogate: UTF-8 never decodes to it.
const undecodable = '\u{D800}';

/**
 * Decodes a form-encoded query: percent-encoded UTF-8, `+` for a space. A stray `%`, bytes that are
 * not UTF-8, and raw bytes beyond ASCII give a value whose `isWellFormed()` is false.
 *
 * @see RFC 6749 appendix B
 */
export function parseQuery(query: string): Query {
  return parse(query, '&', '=', { decodeURIComponent: decode, maxKeys: 0 });
}

/**
 * The value of a parameter; undefined if it is absent.
 *
 * @throws {RelayError} `parameter_repeated`. @see RFC 6749 §3.1
 */
export function single(value: Query[string]): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw new RelayError('parameter_repeated');
}

/** Appends parameters to a URL. Its existing query stays unchanged. */
export function withParameters(
  url: string,
  parameters: Readonly<Record<string, string>> | ExtraParameters,
): string {
  const separator = /[?&]$/.test(url) ? '' : url.includes('?') ? '&' : '?';
  return `${url}${separator}${new URLSearchParams(parameters)}`;
}

function decode(text: string): string {
  if (!/^[\x21-\x7e]*$/.test(text)) return undecodable;
  try {
    return decodeURIComponent(text);
  } catch {
    return undecodable;
  }
}
