import { parseJson } from '../../oauth/json.ts';
import { parseTokenAnswer } from '../../oauth/token-response-format.ts';

/** A field of an answer, by its path in settings: `emails.0.value`. Its value is never shown. */
interface DescribedField {
  readonly name: string;
  readonly type: string;
}

export interface DescribedFields {
  readonly fields: readonly DescribedField[];
  readonly more: number;
}

const most = 100;
const mostOfObject = 40;
const deepest = 6;
/** The longest name, and the shortest text that may be a secret. Shorter texts occur in too many names. */
const longestName = 60;
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
export function describeObject(value: object, isSecret: HidesText): DescribedFields {
  const values = collectTexts(value);
  const isHidden: HidesText = (name) => isSecret(name) || values.some((text) => name.includes(text));
  const fields: DescribedField[] = [];
  let more = 0;
  const walk = (object: object, prefix: string, depth: number) => {
    // In a list, the first item stands for all.
    const all = Array.isArray(object) ? object.slice(0, 1).entries() : Object.entries(object);
    let count = 0;
    for (const [key, one] of all) {
      count += 1;
      if (fields.length >= most || count > mostOfObject) {
        more += 1;
        continue;
      }
      const name = prefix + toSafeName(`${key}`, isHidden);
      fields.push({ name, type: typeOf(one) });
      if (typeof one === 'object' && one !== null && depth < deepest) walk(one, `${name}.`, depth + 1);
    }
  };
  walk(value, '', 1);
  return { fields, more };
}

/** The texts of an answer that may be secret or personal, to a depth that no answer needs. */
function collectTexts(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return value.length >= shortestSecret ? [value] : [];
  if (typeof value !== 'object' || value === null || depth > 2 * deepest) return [];
  // More texts than an answer needs would make the comparison slow.
  const found: string[] = [];
  for (const one of Object.values(value)) {
    if (found.length >= most) break;
    found.push(...collectTexts(one, depth + 1).slice(0, most));
  }
  return found;
}

/** A name in a form that is safe on a terminal: the provider may put anything into names. */
export function toSafeName(name: string, isHidden: HidesText = () => false): string {
  if (name === '') return '(empty name)';
  if (isHidden(name)) return '(a name that is a value)';
  if (name.length > longestName) return '(a long name)';
  // Names of OpenID Connect may be URLs or URNs. An address or a random text may be personal.
  const isUsual = /^[\w.:/ -]+$/.test(name) && !/[A-Za-z0-9_-]{32,}/.test(name);
  return isUsual ? name : '(an unusual name)';
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'empty list' : 'list';
  if (typeof value === 'object') return Object.keys(value).length === 0 ? 'empty object' : 'object';
  if (value === '') return 'empty text';
  const names = { string: 'text', number: 'number', boolean: 'true or false' } as const;
  return value === undefined ? 'nothing' : (names[typeof value as keyof typeof names] ?? 'unknown');
}

/** Recognizes texts that contain one of these secrets. It ignores secrets that are shorter than `shortestSecret`. */
export function createSecretMatcher(secrets: readonly (string | undefined)[]): HidesText {
  const known = secrets.filter((one) => one !== undefined && one.length >= shortestSecret) as string[];
  return (text) => known.some((secret) => text.includes(secret));
}

/**
 * Paths of texts and numbers in a record whose last name is one of these, as proposals for a setting. They follow the
 * order of the names.
 */
export function findPathsByName(record: object, names: readonly string[], isWanted = isTextOrNumber): string[] {
  const found: { path: string; rank: number }[] = [];
  let looked = 0;
  const walk = (object: object, prefix: string, depth: number) => {
    const all = Array.isArray(object) ? object.slice(0, 1).entries() : Object.entries(object);
    for (const [key, one] of all) {
      looked += 1;
      if (looked > 10 * most) return;
      const shown = toSafeName(`${key}`);
      // A name that cannot be shown cannot be proposed either.
      if (shown !== `${key}`) continue;
      const rank = names.indexOf(`${key}`.toLowerCase().replaceAll(/[_-]/g, ''));
      if (rank !== -1 && isWanted(one)) found.push({ path: prefix + shown, rank: 100 * depth + rank });
      if (typeof one === 'object' && one !== null && depth < deepest) walk(one, `${prefix}${shown}.`, depth + 1);
    }
  };
  walk(record, '', 1);
  return found
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ path }) => path)
    .slice(0, 4);
}

const isTextOrNumber = (value: unknown) =>
  (typeof value === 'string' && value !== '') || (typeof value === 'number' && Number.isSafeInteger(value));
