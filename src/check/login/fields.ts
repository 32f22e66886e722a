import { parseJson } from '../../oauth/json.ts';
import { parseTokenAnswer } from '../../oauth/token-response-format.ts';

/** A field of an answer, by its path in settings: `emails.0.value`. Its value is never shown. */
interface DescribedField {
  readonly name: string;
  readonly type: string;
}

export interface DescribedFields {
  readonly fields: readonly DescribedField[];
  /** The number of fields that are left out. */
  readonly more: number;
}

const maxFields = 100;
const maxFieldsOfObject = 40;
const maxDepth = 6;
const longestName = 60;
/** The length from which a text may be a secret. Shorter texts occur in too many names. */
const shortestSecret = 8;

/** Whether a text contains a secret, so that it must not be shown. */
export type HidesText = (text: string) => boolean;

/**
 * Describes an answer by the names and the types of its fields.
 *
 * @param body JSON, or a form
 * @param isSecret recognizes known secrets
 * @returns undefined if it is neither an object nor a list
 */
export function describeFields(body: Uint8Array, isSecret: HidesText): DescribedFields | undefined {
  const value = parseJson(body) ?? parseTokenAnswer(body);
  return typeof value === 'object' && value !== null ? describeObject(value, isSecret) : undefined;
}

/** Describes a parsed object. Some providers use values as names, so a name that is also a value is not shown. */
export function describeObject(record: object, isSecret: HidesText): DescribedFields {
  const values = collectTexts(record);
  const isHidden: HidesText = (name) => isSecret(name) || values.some((text) => name.includes(text));
  const fields: DescribedField[] = [];
  let more = 0;
  const addFields = (object: object, prefix: string, depth: number) => {
    for (const [index, [key, value]] of fieldsOf(object).entries()) {
      if (fields.length >= maxFields || index >= maxFieldsOfObject) {
        more += 1;
        continue;
      }
      const name = prefix + toSafeName(key, isHidden);
      fields.push({ name, type: describeType(value) });
      if (isObjectOrList(value) && depth < maxDepth) addFields(value, `${name}.`, depth + 1);
    }
  };
  addFields(record, '', 1);
  return { fields, more };
}

/** The fields of an object. In a list, the first item stands for all. */
const fieldsOf = (object: object): [key: string, value: unknown][] =>
  Object.entries(Array.isArray(object) ? object.slice(0, 1) : object);

const isObjectOrList = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Collects the texts of an answer that may be secret or personal, to a depth that no answer needs. */
function collectTexts(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return value.length >= shortestSecret ? [value] : [];
  if (!isObjectOrList(value) || depth > 2 * maxDepth) return [];
  const texts: string[] = [];
  for (const inner of Object.values(value)) {
    // The comparison with very many texts would be slow.
    if (texts.length >= maxFields) break;
    texts.push(...collectTexts(inner, depth + 1).slice(0, maxFields));
  }
  return texts;
}

/** Returns a name that is safe on a terminal, or a remark in its place. The provider may put anything into names. */
export function toSafeName(name: string, isHidden: HidesText = () => false): string {
  if (name === '') return '(empty name)';
  if (isHidden(name)) return '(a name that is a value)';
  if (name.length > longestName) return '(a long name)';
  // Claims of OpenID Connect may be named by URLs. An e-mail address or a long random text may be personal.
  const isUsual = /^[\w.:/ -]+$/.test(name) && !/[A-Za-z0-9_-]{32,}/.test(name);
  return isUsual ? name : '(an unusual name)';
}

function describeType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'empty list' : 'list';
  if (typeof value === 'object') return Object.keys(value).length === 0 ? 'empty object' : 'object';
  if (value === '') return 'empty text';
  const names = { string: 'text', number: 'number', boolean: 'true or false' } as const;
  return value === undefined ? 'nothing' : (names[typeof value as keyof typeof names] ?? 'unknown');
}

/** Creates a function that recognizes texts which contain one of these secrets, unless the secret is very short. */
export function createSecretMatcher(secrets: readonly (string | undefined)[]): HidesText {
  const known = secrets.flatMap((secret) => (secret !== undefined && secret.length >= shortestSecret ? [secret] : []));
  return (text) => known.some((secret) => text.includes(secret));
}

/**
 * Finds up to four paths of values in a record that have one of these names, as proposals for a setting. Paths near the
 * top come first, then those of the first names.
 *
 * @param names in lower case, without `_` and `-`
 * @param isWanted whether a value fits the setting
 */
export function findPathsByName(record: object, names: readonly string[], isWanted = isTextOrNumber): string[] {
  const found: { path: string; rank: number }[] = [];
  let visited = 0;
  const search = (object: object, prefix: string, depth: number) => {
    for (const [key, value] of fieldsOf(object)) {
      visited += 1;
      if (visited > 10 * maxFields) return;
      // A name that cannot be shown cannot be proposed either.
      if (toSafeName(key) !== key) continue;
      const path = prefix + key;
      const rank = names.indexOf(key.toLowerCase().replaceAll(/[_-]/g, ''));
      // There are fewer than 100 names, so the depth counts more than the rank of a name.
      if (rank !== -1 && isWanted(value)) found.push({ path, rank: 100 * depth + rank });
      if (isObjectOrList(value) && depth < maxDepth) search(value, `${path}.`, depth + 1);
    }
  };
  search(record, '', 1);
  return found
    .toSorted((first, second) => first.rank - second.rank)
    .map(({ path }) => path)
    .slice(0, 4);
}

const isTextOrNumber = (value: unknown) =>
  (typeof value === 'string' && value !== '') || (typeof value === 'number' && Number.isSafeInteger(value));
