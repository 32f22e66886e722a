import { type FieldFault, isFailure, RelayError, refusalsAtProvider } from '../failures/relay-error.ts';
import { isObject, parseJson } from '../oauth/json.ts';
import type { AccessAnswers, AccessRule, Membership, PersonValues } from '../providers/provider.ts';
import type { UpstreamResponse } from '../upstream/messages.ts';
import { isAddress, readDomain } from './addresses.ts';
import { type Allow, answerTo, rulesOf } from './allow.ts';
import { faultIn, groupsIn, type Item, isTrueIn, textIn, textOf } from './fields.ts';

/**
 * Asks the provider with the person's access token.
 *
 * @param path relative to the user URL
 * @returns an answer with status 200, 204 or 404
 * @throws {RelayError} why there is no such answer
 */
export type Ask = (path: string) => Promise<UpstreamResponse>;

/** The most pages of one list. A provider that never stops must not keep the relay busy. */
const mostPages = 20;

/** The most questions of one rule in flight. */
const mostAtOnce = 4;

/**
 * Whether one of the rules matches.
 *
 * @param person the user record
 * @param note called with the reasons why a rule does not match
 * @throws {RelayError} if none matches, and one could not be answered
 */
export async function askIfAllowed(
  allow: Allow,
  access: AccessAnswers | undefined,
  person: Item,
  ask: Ask,
  note: (fault: FieldFault) => void = () => {},
): Promise<boolean> {
  return await askUntilYes(
    rulesOf(allow).map((rule) => async () => {
      const answer = answerTo(rule, allow, access);
      const names = allow[rule] ?? [];
      // The check of the configuration prevents this, except for a provider that is still to be discovered.
      if (answer.kind === 'cannot') throw new RelayError('lookup_failed');
      if (answer.kind === 'membership') {
        return await askUntilYes(names.map((name) => () => askIfMember(name, answer, person, ask)));
      }
      let isEmpty = true;
      for await (const item of askForItems(answer, person, ask)) {
        isEmpty = false;
        const [field] = answer.fields;
        const isVerified = answer.verified === undefined || isTrueIn(item, answer.verified, field);
        if (isVerified && names.some((name) => matchers[rule](name, answer, item))) return true;
        for (const fault of faultsIn(rule, names, answer, item, isVerified)) note(fault);
      }
      if (isEmpty) note({ field: answer.fields[0] ?? '', reason: 'missing' });
      return false;
    }),
  );
}

/** Why a record does not match: the fields that the rule reads. */
function faultsIn(
  rule: AccessRule,
  names: readonly string[],
  answer: PersonValues,
  item: Item,
  isVerified: boolean,
): FieldFault[] {
  const read = rule === 'users' ? names.flatMap((name) => readUser(name, answer).fields) : answer.fields;
  return [...new Set(read)].map((field) => {
    const isNoAddress = rule.startsWith('email') && !answer.isDomain && !isAddress(textIn(item, field) ?? '');
    const fault = faultIn(item, field, rule === 'groups') ?? (isNoAddress ? 'shape' : undefined);
    return { field, reason: fault ?? (isVerified ? 'mismatch' : 'unverified') };
  });
}

/**
 * Whether the answer to one of several questions is yes, as soon as it comes. A few are asked at once, so that one
 * without an answer does not delay the others, and one login does not take the room of others.
 *
 * @throws why one of them failed, if none is yes
 */
async function askUntilYes(questions: readonly (() => Promise<boolean>)[]): Promise<boolean> {
  const waiting = [...questions];
  const failures: unknown[] = [];
  const askInTurn = async () => {
    for (let ask = waiting.shift(); ask !== undefined; ask = waiting.shift()) {
      const isYes = await ask().catch((error) => void failures.push(error));
      if (isYes) return void waiting.splice(0);
    }
    // `Promise.any` waits for the first that does not fail.
    throw new Error('no match');
  };
  try {
    await Promise.any(Array.from({ length: mostAtOnce }, askInTurn));
    return true;
  } catch {
    if (failures.length === 0) return false;
    // Prefer the failure that somebody has to resolve at the provider, because trying again would not help.
    throw failures.find((failure) => isFailure(failure, ...refusalsAtProvider)) ?? failures[0];
  }
}

/** Asks whether a person is a member of an organization or team: `organization/team`. */
async function askIfMember(
  name: string,
  { ask: template, state }: Membership,
  person: Item,
  ask: Ask,
): Promise<boolean> {
  const [organization = '', team = ''] = name.split('/');
  const parts = { organization, team, login: textIn(person, 'login') };
  const path = template.replaceAll(/:(organization|team|login)/g, (_, part: keyof typeof parts) =>
    encodeSegment(parts[part]),
  );
  const { status, body } = await ask(path);
  if (status === 404) return false;
  if (state === undefined && status === 204) return true;
  const membership = status === 200 ? parseJson(body) : undefined;
  if (state === undefined || !isObject(membership)) throw unusable();
  return textIn(membership, 'state') === state;
}

/** A name as one segment of a path. Two dots would leave the directory, encoded or not. */
function encodeSegment(name: string | undefined): string {
  if (name === undefined || /^\.*$/.test(name)) throw unusable();
  return encodeURIComponent(name);
}

/** Whether a record matches a name. */
type Matcher = (name: string, values: PersonValues, item: Item) => boolean;

const hasText: Matcher = (name, { fields, ignoresCase }, item) => isSame(name, textOf(item, fields), ignoresCase);

/** Reads an entry of `users`: an id or a login name, with the fields to compare. */
function readUser(entry: string, { fields, name, isNameExact, ignoresCase }: PersonValues) {
  const [, id] = /^id:(\S.*)$/s.exec(entry) ?? [];
  // An all-digit entry matches ids only, because anybody can choose somebody's id as a user name.
  const isId = name === undefined || id !== undefined || /^\d+$/.test(entry);
  return isId ? { fields, text: id ?? entry, ignoresCase } : { fields: [name], text: entry, ignoresCase: !isNameExact };
}

/** Whether an entry is this person's login name or id. */
const isUser: Matcher = (entry, values, item) => {
  const { fields, text, ignoresCase } = readUser(entry, values);
  return isSame(text, textOf(item, fields), ignoresCase);
};

const hasAddress: Matcher = (name, { fields }, item) => {
  const text = textOf(item, fields) ?? '';
  return isAddress(text) && isSame(name, text, true);
};

const hasDomain: Matcher = (name, { fields, isDomain }, item) => {
  const text = textOf(item, fields);
  return isSame(name, isDomain ? text : readDomain(text ?? ''), true);
};

/** A text with commas also counts as a whole, because it may be the name of the only group. */
const isInGroup: Matcher = (name, { fields: [field = ''], from, ignoresCase }, item) =>
  [textIn(item, field), ...groupsIn(item, field, from !== undefined)].some((one) => isSame(name, one, ignoresCase));

const matchers: Readonly<Record<AccessRule, Matcher>> = {
  users: isUser,
  organizations: hasText,
  teams: hasText,
  emails: hasAddress,
  emailDomains: hasDomain,
  groups: isInGroup,
};

/**
 * All values of a person, from all pages, except unverified ones.
 *
 * @param areGroups whether one field can have several
 * @throws {RelayError} if one page cannot be read: an incomplete list must not count as complete
 */
export async function askForValues(
  values: PersonValues,
  person: Item,
  ask: Ask,
  areGroups: boolean,
): Promise<string[]> {
  const { fields, from, verified, primary } = values;
  const [field = '', ...more] = fields;
  const found: string[] = [];
  for await (const item of askForItems(values, person, ask)) {
    const isMeant = [verified, primary].every((path) => path === undefined || isTrueIn(item, path, field));
    if (!isMeant) continue;
    const text = textOf(item, fields);
    if (more.length > 0 && text === undefined) throw unusable();
    if (areGroups && more.length === 0) found.push(...groupsIn(item, field, from !== undefined));
    else if (text !== undefined) found.push(text);
  }
  if (!found.every((one) => one.isWellFormed())) throw unusable();
  return [...new Set(found)];
}

/** The items of a list, from all pages. An answer with one record is a list of one. */
async function* askForItems({ from, items, next }: PersonValues, person: Item, ask: Ask) {
  if (from === undefined) {
    yield person;
    return;
  }
  let path: string | undefined = from;
  for (let page = 0; path !== undefined; page += 1) {
    if (page === mostPages) throw unusable();
    const { status, headers, body }: UpstreamResponse = await ask(path);
    const answer = status === 200 ? parseJson(body) : undefined;
    const list = isObject(answer) && items !== undefined ? answer[items] : answer;
    const found = Array.isArray(list) ? list : [list];
    if (!found.every(isObject)) throw unusable();
    yield* found;
    const inBody = next !== undefined && isObject(answer) ? answer[next] : undefined;
    const following = inBody ?? /<([^<>]*)>\s*;[^,]*\brel="?next\b/i.exec(`${headers['link'] ?? ''}`)?.[1];
    // Use only its query: an answer of the provider must never choose the host that gets the token.
    const query = typeof following === 'string' ? URL.parse(following, 'https://provider.invalid') : undefined;
    path = query ? from.replace(/\?.*$/s, '') + query.search : undefined;
    if (following !== undefined && path === undefined) throw unusable();
  }
}

function isSame(one: string, other: string | undefined, ignoresCase: boolean | undefined = false): boolean {
  if (other === undefined) return false;
  return ignoresCase ? lowerCase(one) === lowerCase(other) : one === other;
}

/**
 * Only ASCII letters. Other characters, such as the Kelvin sign, have ASCII lower case, and would match another name.
 */
const lowerCase = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

function unusable(): RelayError {
  return new RelayError('provider_answer_unusable');
}
