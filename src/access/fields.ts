import { isObject } from '../oauth/json.ts';

/** What a provider says of a person: the user record, the claims of an ID token, or a record of a list. */
export type Item = Readonly<Record<string, unknown>>;

/** A value at a path. */
interface Found {
  readonly value: unknown;
  /** The lists that the path led through, with the index of the element in each. */
  readonly elements: ReadonlyMap<unknown, number>;
  /** Whether it is an element of a list, or of an object in one: then a comma is a part of it. */
  readonly isOfList: boolean;
}

const noElements: Found['elements'] = new Map();

/**
 * The values at a path: the longest key that exists, then what follows after the dot. So `a.b.roles` also reads
 * `{ "a.b": { "roles": … } }`, as Keycloak writes client ids with dots. A number is the index of a list; any other name
 * is looked for in each object of the list.
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
    // Not into lists of lists: their depth would be that of the call stack.
    return value.flatMap((one, number) => (isObject(one) ? valuesAt(one, path, within(number), true) : []));
  }
  if (!isObject(value)) return [];
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const key = path.slice(0, end);
    if (Object.hasOwn(value, key)) return valuesAt(value[key], path.slice(end + 1), elements, isOfList);
  }
  return [];
}

/** The one value at a path; undefined if there is none, or if there are several. */
function foundIn(item: Item, path: string): Found | undefined {
  const [found, second] = valuesAt(item, path);
  return second === undefined ? found : undefined;
}

const valueIn = (item: Item, path: string): unknown => foundIn(item, path)?.value;

/** The text at a path, if it has one. */
export function textIn(item: Item, path: string): string | undefined {
  return textsOf(valueIn(item, path))[0];
}

/** The texts at several paths, with slashes between them, if the item has each of them. */
export function textOf(item: Item, paths: readonly string[]): string | undefined {
  const texts = paths.flatMap((path) => textsOf(valueIn(item, path)));
  return texts.length === paths.length ? texts.join('/') : undefined;
}

/**
 * The groups at a path, in the shapes that providers have: a list of names; a list of objects, whose names the path leads
 * to; an object, whose keys are the groups; one name; or one text with commas.
 *
 * @param isList whether the provider always has a list, so that a comma is a part of a name
 */
export function groupsIn(item: Item, path: string, isList = false): string[] {
  return valuesAt(item, path).flatMap(({ value, isOfList }) => {
    if (Array.isArray(value)) return value.flatMap(textsOf);
    if (isObject(value)) return Object.keys(value).filter((key) => saysYes(value[key]));
    return textsOf(value).flatMap((text) => (isList || isOfList ? text : splitAtCommas(text)));
  });
}

/** Whether the value of a key means that the key counts: `{ "admin": false }` is no administrator. */
function saysYes(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  return value === true || textsOf(value).some((text) => !/^(0|false|no)$/i.test(text));
}

/**
 * The names in one text, which Cognito puts into brackets if they come from SAML. The commas of a distinguished name of
 * LDAP, such as `cn=staff,ou=groups`, separate none.
 */
function splitAtCommas(text: string): string[] {
  if (text.includes('=')) return [text];
  const isList = text.startsWith('[') && text.endsWith(']');
  const names = (isList ? text.slice(1, -1) : text).split(',').map((name) => name.trim());
  return names.map((name) => (isList ? name.replace(/^"(.*)"$/s, '$1') : name)).filter((name) => name !== '');
}

/** A text or a number. A number that JSON has rounded could be that of another person. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string' && value !== '') return [value];
  return Number.isSafeInteger(value) ? [`${value}`] : [];
}

/**
 * Whether the field at a path is true. Some providers write `true` as a text.
 *
 * @param of the path of what it says something about. Where both paths lead through a list, both have to lead to the same
 *   element: otherwise a verified telephone number would verify an address that anybody may type in
 */
export function isTrueIn(item: Item, path: string, of?: string): boolean {
  const flag = foundIn(item, path);
  if (flag?.value !== true && flag?.value !== 'true') return false;
  const others = of === undefined ? undefined : foundIn(item, of)?.elements;
  return [...flag.elements].every(([list, index]) => (others?.get(list) ?? index) === index);
}

/**
 * Why a field says nothing: it is not there, or has another shape.
 *
 * @param areGroups whether it may have several texts, or none
 */
export function faultIn(item: Item, path: string, areGroups = false): 'missing' | 'shape' | undefined {
  const values = valuesAt(item, path).map(({ value }) => value);
  if (values.every((value) => value === undefined || value === null || value === '')) return 'missing';
  if (!areGroups) return textIn(item, path) === undefined ? 'shape' : undefined;
  const isReadable = groupsIn(item, path).length > 0 || values.every(isEmpty);
  return isReadable ? undefined : 'shape';
}

const isEmpty = (value: unknown) => typeof value === 'object' && value !== null && Object.keys(value).length === 0;
