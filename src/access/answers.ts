import { RelayError } from '../errors.ts';
import { isObject, parseJson } from '../oauth/json.ts';
import type { AccessAnswers, AccessRule, Membership, PersonValues } from '../providers/provider.ts';
import type { UpstreamResponse } from '../upstream/messages.ts';
import { type Allow, answerTo, rulesOf } from './allow.ts';

type Item = Readonly<Record<string, unknown>>;

/**
 * Asks the provider with the person's access token.
 *
 * @param path relative to the user URL
 * @returns its answer with status 200, 204 or 404
 * @throws {RelayError} why it gives no other answer
 */
export type Ask = (path: string) => Promise<UpstreamResponse>;

/** Pages of one list: a provider that never stops must not keep the relay busy. */
const mostPages = 20;

/**
 * Whether one of the rules matches.
 *
 * @param person the user record
 * @throws {RelayError} if none does, and the provider gave no answer to one of them
 */
export async function isAllowed(
  allow: Allow,
  access: AccessAnswers | undefined,
  person: Item,
  ask: Ask,
): Promise<boolean> {
  return await someOf(
    rulesOf(allow).map(async (rule) => {
      const answer = answerTo(rule, allow, access);
      if (typeof answer === 'string') throw new RelayError('lookup_failed');
      const names = allow[rule] ?? [];
      return 'ask' in answer
        ? await someOf(names.map((name) => isMember(name, answer, person, ask)))
        : await hasValue(rule, names, answer, person, ask);
    }),
  );
}

/**
 * Whether one of several answers is yes, as soon as it comes.
 *
 * @throws why one of them failed, if none is yes
 */
async function someOf(answers: readonly Promise<boolean>[]): Promise<boolean> {
  const matches = answers.map(async (answer) => {
    if (!(await answer)) throw new Error('no match');
  });
  try {
    await Promise.any(matches);
    return true;
  } catch {
    await Promise.all(answers);
    return false;
  }
}

async function isMember(
  name: string,
  { ask: template, state }: Membership,
  person: Item,
  ask: Ask,
): Promise<boolean> {
  const [organization = '', team = ''] = name.split('/');
  const parts = { organization, team, login: textIn(person, 'login') };
  const path = template.replaceAll(/:(organization|team|login)/g, (_, part: keyof typeof parts) =>
    segment(parts[part]),
  );
  const { status, body } = await ask(path);
  if (status === 404) return false;
  if (state === undefined && status === 204) return true;
  const membership = status === 200 ? parseJson(body) : undefined;
  if (state === undefined || !isObject(membership)) throw unusable();
  return textIn(membership, 'state') === state;
}

/** A name as one segment of a path. Two dots would leave the directory, encoded or not. */
function segment(name: string | undefined): string {
  if (name === undefined || /^\.*$/.test(name)) throw unusable();
  return encodeURIComponent(name);
}

async function hasValue(
  rule: AccessRule,
  names: readonly string[],
  values: PersonValues,
  person: Item,
  ask: Ask,
): Promise<boolean> {
  const { from, fields, verified, name, ignoresCase } = values;
  const isEmail = rule === 'emails' || rule === 'emailDomains';
  const isSame = (one: string, other: string) =>
    ignoresCase || isEmail ? lowerCase(one) === lowerCase(other) : one === other;
  const isDomainOf = rule === 'emailDomains' && fields.includes('email');
  const isOf = (item: Item) => {
    if (verified !== undefined && !isTrue(valueIn(item, verified))) return false;
    const found = valuesOf(item, fields, rule === 'groups').map((value) =>
      isDomainOf ? (/@([^@]*)$/.exec(value)?.[1] ?? '') : value,
    );
    const named = name === undefined ? undefined : textIn(item, name);
    return names.some((wanted) =>
      // A person may have a name that is the number of another one.
      named === undefined || /^\d+$/.test(wanted)
        ? found.some((value) => isSame(value, wanted))
        : lowerCase(named) === lowerCase(wanted),
    );
  };
  if (from === undefined) return isOf(person);
  return await someItem(from, values, ask, isOf);
}

/** Whether an item of a list fits, page by page. An answer that is one record is a list of one. */
async function someItem(
  from: string,
  { items, next }: PersonValues,
  ask: Ask,
  fits: (item: Item) => boolean,
): Promise<boolean> {
  let path: string | undefined = from;
  for (let page = 0; path !== undefined; page += 1) {
    if (page === mostPages) throw unusable();
    const { status, headers, body } = await ask(path);
    const answer = status === 200 ? parseJson(body) : undefined;
    const list = isObject(answer) && items !== undefined ? answer[items] : answer;
    const found = Array.isArray(list) ? list : [list];
    if (!found.every(isObject)) throw unusable();
    if (found.some(fits)) return true;
    const inBody = next !== undefined && isObject(answer) ? answer[next] : undefined;
    const following =
      inBody ?? /<([^<>]*)>\s*;[^,]*\brel="?next\b/i.exec(`${headers['link'] ?? ''}`)?.[1];
    // Only its query: what the provider answers never chooses the host that gets the token.
    const query =
      typeof following === 'string' ? URL.parse(following, 'https://provider.invalid') : undefined;
    path = query ? from.replace(/\?.*$/s, '') + query.search : undefined;
    if (following !== undefined && path === undefined) throw unusable();
  }
  return false;
}

/** The values of fields: one with slashes between several, or those of a list: only groups come as one. */
function valuesOf(item: Item, fields: readonly string[], mayBeList: boolean): readonly string[] {
  const [first, ...others] = fields.map((field) => valueIn(item, field));
  if (mayBeList && Array.isArray(first) && others.length === 0) return first.flatMap(textsOf);
  const texts = [first, ...others].flatMap(textsOf);
  return texts.length === fields.length && texts.length > 0 ? [texts.join('/')] : [];
}

/** A text or a number. A number that JSON has rounded could be that of another person. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string' && value !== '') return [value];
  return Number.isSafeInteger(value) ? [`${value}`] : [];
}

/** The text of a field; undefined: it has none. */
export function textIn(item: Item, field: string): string | undefined {
  return textsOf(valueIn(item, field))[0];
}

/** The value of a field: a name, or a path of names with dots between them. */
function valueIn(item: Item, field: string): unknown {
  if (Object.hasOwn(item, field)) return item[field];
  const [, first = '', rest = ''] = /^([^.]+)\.(.+)$/s.exec(field) ?? [];
  const inner = Object.hasOwn(item, first) ? item[first] : undefined;
  return isObject(inner) ? valueIn(inner, rest) : undefined;
}

/** Some providers write the claim as a text. */
const isTrue = (value: unknown) => value === true || value === 'true';

/** ASCII alone: other characters have letters of ASCII as their lower case. */
const lowerCase = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

function unusable(): RelayError {
  return new RelayError('provider_answer_unusable');
}
