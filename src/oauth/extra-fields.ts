import { limits } from '../limits.ts';
import type { Provider } from '../providers/provider.ts';
import { type Query, readSingle } from './query.ts';

/** Values that a provider gives besides tokens, by the names that the operator listed. They are never in a redirect. */
export type ExtraFields = Readonly<Record<string, string>>;

/** Names that the operator cannot list: fields of the relay's own responses, and names with a meaning in JavaScript. */
export const reservedFields: readonly string[] = [
  'access_token',
  'token_type',
  'expires_in',
  'scope',
  'refresh_token',
  'refresh_token_expires_in',
  'id_token',
  'identity',
  'provider',
  'renewable',
  'error',
  'error_description',
  'error_uri',
  'detail',
  'request_id',
  'code',
  'state',
  'iss',
  'client_id',
  'client_secret',
  'code_verifier',
  'nonce',
  '__proto__',
  'constructor',
  'prototype',
];

/**
 * The bytes that a text takes in a sealed code or token, as JSON without quotes. A control character takes six, so that
 * four fields of them could make a code longer than the relay accepts.
 */
const sealedSize = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2;

/**
 * Picks the texts with these names, and leaves out values that are no text, or over the limit.
 *
 * @param read returns the value with a name
 * @returns undefined if no text is left
 */
export function pickTexts(
  names: readonly string[] | undefined,
  read: (name: string) => unknown,
): ExtraFields | undefined {
  const texts: Record<string, string> = {};
  for (const name of names ?? []) {
    const value = read(name);
    const isText = typeof value === 'string' && value !== '' && value.isWellFormed();
    if (isText && sealedSize(value) <= limits.extraFieldSize) texts[name] = value;
  }
  return Object.keys(texts).length > 0 ? texts : undefined;
}

/** Reads the listed parameters of a callback. @throws {RelayError} `parameter_repeated` */
export const readCallbackFields = (query: Query, { callbackFields }: Pick<Provider, 'callbackFields'>) =>
  pickTexts(callbackFields, (name) => readSingle(query[name]));

/** Merges the fields of two responses. A newer value replaces an earlier one. */
export function mergeFields(earlier: ExtraFields | undefined, newer: ExtraFields | undefined) {
  return earlier === undefined ? newer : { ...earlier, ...newer };
}

/** Picks the fields that the operator lists now. Since the login, some may have been removed from the list. */
export function pickPresentFields(
  fields: ExtraFields | undefined,
  { tokenFields = [], callbackFields = [] }: Pick<Provider, 'tokenFields' | 'callbackFields'>,
) {
  return pickTexts([...tokenFields, ...callbackFields], (name) =>
    fields && Object.hasOwn(fields, name) ? fields[name] : undefined,
  );
}
