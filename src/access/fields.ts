import { isObject } from '../oauth/json.ts';

/** A record about a person: the user record, the claims of an ID token, or an item of a list. */
export type Item = Readonly<Record<string, unknown>>;

/** A value at a path. */
interface Found {
  readonly value: unknown;
  /** The lists on the path, with the index in each. */
  readonly elements: ReadonlyMap<unknown, number>;
  /** Whether it is inside a list, so that a comma is a part of it. */
  readonly isOfList: boolean;
}

const noElements: Found['elements'] = new Map();

/**
 * The values at a path. It takes the longest key that exists, and continues after the dot. So `a.b.roles` also reads `{
 * "a.b": { "roles": … } }`, as Keycloak writes client ids with dots. A number is an index of a list; any other name is
 * read from each object of the list.
 */
function valuesAt(value: unknown, path: string, elements = noElements, isOfList = false): Found[] {
  if (path === '') return [{ value, elements, isOfList }];
  if (Array.isArray(value)) {
    const within = (index: number) => new Map(elements).set(value, index);
    const [, index, rest = ''] = /^(\d{1,6})(?:\.(.*))?$/s.exec(path) ?? [];
    if (index !== undefined) {
      const number = Number(index);
      return number < value.length ? valuesAt(value[number], rest, within(number), isOfList || rest === '') : [];
    }
    // Not into lists of lists, because hostile nesting would exhaust the call stack.
    return value.flatMap((one, number) => (isObject(one) ? valuesAt(one, path, within(number), true) : []));
  }
  if (!isObject(value)) return [];
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const key = path.slice(0, end);
    if (Object.hasOwn(value, key)) return valuesAt(value[key], path.slice(end + 1), elements, isOfList);
  }
  return [];
}

/** The one value at a path; undefined if there is none, or several. */
function foundIn(item: Item, path: string): Found | undefined {
  const [found, second] = valuesAt(item, path);
  return second === undefined ? found : undefined;
}

const valueIn = (item: Item, path: string): unknown => foundIn(item, path)?.value;

export function textIn(item: Item, path: string): string | undefined {
  return textsOf(valueIn(item, path))[0];
}

/** The texts at several paths, joined with slashes, if the item has all of them. */
export function textOf(item: Item, paths: readonly string[]): string | undefined {
  const texts = paths.flatMap((path) => textsOf(valueIn(item, path)));
  return texts.length === paths.length ? texts.join('/') : undefined;
}

/**
 * The groups at a path, in the shapes that providers use: a list of names; a list of objects with the names; an object
 * with the groups as keys; one name; or one text with commas.
 *
 * @param isList whether the provider always sends a list, so that a comma is a part of a name
 */
export function groupsIn(item: Item, path: string, isList = false): string[] {
  return valuesAt(item, path).flatMap(({ value, isOfList }) => {
    if (Array.isArray(value)) return value.flatMap(textsOf);
    if (isObject(value)) return Object.keys(value).filter((key) => saysYes(value[key]));
    return textsOf(value).flatMap((text) => (isList || isOfList ? text : splitAtCommas(text)));
  });
}

/** Whether a value says that its key counts: `{ "admin": false }` is no administrator. */
function saysYes(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  return value === true || textsOf(value).some((text) => !/^(0|false|no)$/i.test(text));
}

/**
 * The names in one text. Cognito puts names from SAML into brackets. The commas of an LDAP distinguished name, such as
 * `cn=staff,ou=groups`, separate nothing.
 */
function splitAtCommas(text: string): string[] {
  if (text.includes('=')) return [text];
  const isList = text.startsWith('[') && text.endsWith(']');
  const names = (isList ? text.slice(1, -1) : text).split(',').map((name) => name.trim());
  return names.map((name) => (isList ? name.replace(/^"(.*)"$/s, '$1') : name)).filter((name) => name !== '');
}

/** A text or an exact number. A number that JSON rounded could be another person's id. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string' && value !== '') return [value];
  return Number.isSafeInteger(value) ? [`${value}`] : [];
}

/** A day, or a moment, as databases and ISO 8601 write it. Databases write 0000-00-00 in place of none. */
const date = /^(?!0000)\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|UTC|[+-]\d\d:?\d\d))?)?$/;

/** Whether a value says yes. Some providers send `true` as a text, others the moment it became true (Laravel). */
export const isTrue = (value: unknown): boolean =>
  value === true || value === 'true' || (typeof value === 'string' && date.test(value));

/**
 * Whether the field at a path says yes.
 *
 * @param of the path that the field verifies. If both paths lead through a list, they must lead to the same element:
 *   otherwise, a verified telephone number would verify an address that anybody may type in
 */
export function isTrueIn(item: Item, path: string, of?: string): boolean {
  const flag = foundIn(item, path);
  if (flag === undefined || !isTrue(flag.value)) return false;
  const others = of === undefined ? undefined : foundIn(item, of)?.elements;
  return [...flag.elements].every(([list, index]) => (others?.get(list) ?? index) === index);
}

/**
 * Why a field does not count: it is missing, or has another shape.
 *
 * @param areGroups whether several texts or none are allowed
 */
export function faultIn(item: Item, path: string, areGroups = false): 'missing' | 'shape' | undefined {
  const values = valuesAt(item, path).map(({ value }) => value);
  if (values.every((value) => value === undefined || value === null || value === '')) return 'missing';
  if (!areGroups) return textIn(item, path) === undefined ? 'shape' : undefined;
  const isReadable = groupsIn(item, path).length > 0 || values.every(isEmpty);
  return isReadable ? undefined : 'shape';
}

const isEmpty = (value: unknown) => typeof value === 'object' && value !== null && Object.keys(value).length === 0;
