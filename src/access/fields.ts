import { isObject } from '../oauth/json.ts';

/** A record about a person: the user record, the claims of an ID token, or an item of a list. */
export type Item = Readonly<Record<string, unknown>>;

interface Found {
  readonly value: unknown;
  /** The lists on the path, each with the index of the element that the path takes. */
  readonly elements: ReadonlyMap<unknown, number>;
  /** Whether the value is an element of a list. Then a comma in it separates nothing. */
  readonly isOfList: boolean;
}

const noElements: Found['elements'] = new Map();

/**
 * Reads the values at a path with dots. In an object, the path takes the longest key that exists. So `a.b.roles` also
 * reads `{ "a.b": { "roles": … } }`, which Keycloak sends for a client id with a dot. In a list, a number is an index,
 * and any other name is read from each element.
 */
function valuesAt(value: unknown, path: string, elements = noElements, isOfList = false): Found[] {
  if (path === '') return [{ value, elements, isOfList }];
  if (Array.isArray(value)) return valuesInList(value, path, elements, isOfList);
  if (!isObject(value)) return [];
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const key = path.slice(0, end);
    if (Object.hasOwn(value, key)) return valuesAt(value[key], path.slice(end + 1), elements, isOfList);
  }
  return [];
}

/** As `valuesAt`, for a list: the path begins with an index, or with a name that is read from each element. */
function valuesInList(list: unknown[], path: string, elements: Found['elements'], isOfList: boolean): Found[] {
  const elementsWith = (index: number) => new Map(elements).set(list, index);
  const [, digits, rest = ''] = /^(\d{1,6})(?:\.(.*))?$/s.exec(path) ?? [];
  if (digits !== undefined) {
    const index = Number(digits);
    if (index >= list.length) return [];
    const isElement = rest === '';
    return valuesAt(list[index], rest, elementsWith(index), isOfList || isElement);
  }
  // Lists inside of lists are skipped, because hostile nesting would exhaust the call stack.
  return list.flatMap((one, index) => (isObject(one) ? valuesAt(one, path, elementsWith(index), true) : []));
}

/** The only value at a path; undefined if there is none, or several. */
function onlyValueAt(item: Item, path: string): Found | undefined {
  const [found, second] = valuesAt(item, path);
  return second === undefined ? found : undefined;
}

/** The text or number at a path; undefined if there is none, or several. */
export function textIn(item: Item, path: string): string | undefined {
  return asText(onlyValueAt(item, path)?.value);
}

/** The texts at several paths, joined with slashes, if the item has all of them. */
export function joinedTextIn(item: Item, paths: readonly string[]): string | undefined {
  const texts = paths.flatMap((path) => textIn(item, path) ?? []);
  return texts.length === paths.length ? texts.join('/') : undefined;
}

/**
 * Reads the groups at a path, in the shapes that providers use: a list of names; a list of objects with the names; an
 * object with the groups as keys; one name; or one text with commas.
 *
 * @param isList whether the provider always sends a list, so that a comma is a part of a name
 */
export function groupsIn(item: Item, path: string, isList = false): string[] {
  return valuesAt(item, path).flatMap(({ value, isOfList }) => {
    if (Array.isArray(value)) return value.flatMap((one) => asText(one) ?? []);
    if (isObject(value)) return Object.keys(value).filter((key) => isGroupSet(value[key]));
    const text = asText(value);
    if (text === undefined) return [];
    return isList || isOfList ? [text] : splitAtCommas(text);
  });
}

/** Whether the value of a group's key says that the person is in it: `{ "admin": false }` is no administrator. */
function isGroupSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  const text = asText(value);
  return value === true || (text !== undefined && !/^(0|false|no)$/i.test(text));
}

/** Splits a text into names. In an LDAP distinguished name, such as `cn=staff,ou=groups`, commas separate nothing. */
function splitAtCommas(text: string): string[] {
  if (text.includes('=')) return [text];
  // Cognito puts names from SAML into brackets.
  const isInBrackets = text.startsWith('[') && text.endsWith(']');
  const names = (isInBrackets ? text.slice(1, -1) : text).split(',').map((name) => name.trim());
  return names.map((name) => (isInBrackets ? name.replace(/^"(.*)"$/s, '$1') : name)).filter((name) => name !== '');
}

/** A text, or an exact number as a text. A number that JSON rounded could be another person's id. */
function asText(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value;
  return Number.isSafeInteger(value) ? `${value}` : undefined;
}

/** A day or a time, as databases and ISO 8601 write it. Not 0000-00-00, which databases write for a missing date. */
const date = /^(?!0000)\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|UTC|[+-]\d\d:?\d\d))?)?$/;

/**
 * Whether a value says yes. Some providers send `true` as a text, others (Laravel) the time at which it became true.
 */
export const isTrue = (value: unknown): boolean =>
  value === true || value === 'true' || (typeof value === 'string' && date.test(value));

/**
 * Whether the field at a path says yes.
 *
 * @param verifiedPath the path of the value that the field verifies. If both paths lead through a list, they must lead
 *   to the same element. Otherwise, a verified telephone number would verify an address that anybody can enter
 */
export function isTrueIn(item: Item, path: string, verifiedPath?: string): boolean {
  const flag = onlyValueAt(item, path);
  if (flag === undefined || !isTrue(flag.value)) return false;
  const verified = verifiedPath === undefined ? undefined : onlyValueAt(item, verifiedPath);
  return [...flag.elements].every(([list, index]) => (verified?.elements.get(list) ?? index) === index);
}

/**
 * Why a field cannot be used. Undefined if it can.
 *
 * @param areGroups whether the field may hold several texts or none
 */
export function faultIn(item: Item, path: string, areGroups = false): 'missing' | 'shape' | undefined {
  const values = valuesAt(item, path).map(({ value }) => value);
  if (values.every((value) => value === undefined || value === null || value === '')) return 'missing';
  if (!areGroups) return textIn(item, path) === undefined ? 'shape' : undefined;
  const isReadable = groupsIn(item, path).length > 0 || values.every(isEmptyCollection);
  return isReadable ? undefined : 'shape';
}

const isEmptyCollection = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;
