import { limits } from '../limits.ts';
import type { Provider } from '../providers/provider.ts';
import { type Query, readSingle } from './query.ts';

/** What a provider gives besides tokens, by the names that the operator listed. It never travels in a redirect. */
export type ExtraFields = Readonly<Record<string, string>>;

/** Names that cannot be listed: fields of the relay's own answers, and members of every object. */
export const takenFields: readonly string[] = [
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
 * The bytes that a text takes in a sealed code or token, where a control character takes six. Counted otherwise, four
 * fields could make a code longer than what the relay opens.
 */
const sealedSize = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2;

/** Picks the texts with these names, and leaves out other values and those over the limit. */
export function pickTexts(names: readonly string[] | undefined, read: (name: string) => unknown) {
  const found = names?.flatMap((name) => {
    const value = read(name);
    const isUsable = typeof value === 'string' && value !== '' && value.isWellFormed();
    return isUsable && sealedSize(value) <= limits.extraFieldSize ? [[name, value] as const] : [];
  });
  return found?.length ? (Object.fromEntries(found) as ExtraFields) : undefined;
}

/** Reads the listed parameters of a callback. @throws {RelayError} `parameter_repeated` */
export const readCallbackFields = (query: Query, { callbackFields }: Pick<Provider, 'callbackFields'>) =>
  pickTexts(callbackFields, (name) => readSingle(query[name]));

export function mergeFields(earlier: ExtraFields | undefined, newer: ExtraFields | undefined) {
  return earlier === undefined ? newer : { ...earlier, ...newer };
}

/** The fields that a front end gets now: the operator may have removed some from the list since the login. */
export function presentFields(
  fields: ExtraFields | undefined,
  { tokenFields = [], callbackFields = [] }: Pick<Provider, 'tokenFields' | 'callbackFields'>,
) {
  return pickTexts([...tokenFields, ...callbackFields], (name) =>
    fields && Object.hasOwn(fields, name) ? fields[name] : undefined,
  );
}
