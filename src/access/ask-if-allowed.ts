import { type FieldFault, isFailure, RelayError, refusalsAtProvider } from '../failures/relay-error.ts';
import { isObject, parseJson } from '../oauth/json.ts';
import type { AccessAnswers, AccessRule, Membership, ValueSource } from '../providers/provider.ts';
import { isAddress, readDomain } from './addresses.ts';
import { type Allow, answerTo, rulesOf } from './allow.ts';
import { type Ask, askForItems, unusableAnswer } from './ask-for-values.ts';
import { faultIn, groupsIn, type Item, isTrueIn, joinedTextIn, textIn } from './fields.ts';

/** The most questions in flight for one person. */
const mostAtOnce = 4;

type NoteFault = (fault: FieldFault) => void;

/**
 * Asks the provider whether one of the rules of an `allow` matches a person, for example whether the person is a member
 * of an allowed organization.
 *
 * @param person the user record
 * @param note called with the reasons why a rule does not match
 * @throws {RelayError} if no rule matches, and a question could not be answered
 */
export async function askIfAllowed(
  allow: Allow,
  access: AccessAnswers | undefined,
  person: Item,
  ask: Ask,
  note: NoteFault = () => {},
): Promise<boolean> {
  return await askUntilYes(
    rulesOf(allow).map((rule) => async () => {
      const names = allow[rule] ?? [];
      const answer = answerTo(rule, allow, access);
      // The check of the configuration prevents this.
      if (answer.kind === 'cannot') throw new RelayError('lookup_failed');
      return answer.kind === 'membership'
        ? await askUntilYes(names.map((name) => () => askIfMember(name, answer, person, ask)))
        : await askIfValueMatches(rule, names, answer, person, ask, note);
    }),
  );
}

/** Asks for the values of a person at `source`, until one of them matches one of the names. */
async function askIfValueMatches(
  rule: AccessRule,
  names: readonly string[],
  source: ValueSource,
  person: Item,
  ask: Ask,
  note: NoteFault,
): Promise<boolean> {
  const { fields, verified } = source;
  const [field = ''] = fields;
  let isEmpty = true;
  for await (const item of askForItems(source, person, ask)) {
    isEmpty = false;
    // The path of the value is passed as well, because in a list, the flag of another element says nothing about it.
    const isVerified = verified === undefined || isTrueIn(item, verified, field);
    if (isVerified && names.some((name) => matchers[rule](name, source, item))) return true;
    for (const fault of faultsIn(rule, names, source, item, isVerified)) note(fault);
  }
  if (isEmpty) note({ field, reason: 'missing' });
  return false;
}

/** Says of each field that a rule reads why it does not match. */
function faultsIn(
  rule: AccessRule,
  names: readonly string[],
  source: ValueSource,
  item: Item,
  isVerified: boolean,
): FieldFault[] {
  const read = rule === 'users' ? names.flatMap((name) => readUserEntry(name, source).fields) : source.fields;
  const mustBeAddress = rule.startsWith('email') && !source.isDomain;
  return [...new Set(read)].map((field) => {
    const fault = faultIn(item, field, rule === 'groups');
    if (fault !== undefined) return { field, reason: fault };
    if (mustBeAddress && !isAddress(textIn(item, field) ?? '')) return { field, reason: 'shape' };
    return { field, reason: isVerified ? 'mismatch' : 'unverified' };
  });
}

/**
 * Asks several questions until an answer is yes. It asks at most four at once. A question without an answer must not
 * delay the others, and one login must not take the room of other logins.
 *
 * @throws why a question failed, if no answer is yes
 */
async function askUntilYes(questions: readonly (() => Promise<boolean>)[]): Promise<boolean> {
  const waiting = [...questions];
  const failures: unknown[] = [];
  const askInTurn = async () => {
    for (let ask = waiting.shift(); ask !== undefined; ask = waiting.shift()) {
      try {
        if (await ask()) {
          // No other question needs an answer.
          waiting.length = 0;
          return;
        }
      } catch (error) {
        failures.push(error);
      }
    }
    // This failure makes `Promise.any` wait for the questions that are still in flight, because one may find a match.
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

/** Asks whether a person is a member of an organization, or of a team, whose name is `organization/team`. */
async function askIfMember(
  name: string,
  { ask: pathTemplate, state }: Membership,
  person: Item,
  ask: Ask,
): Promise<boolean> {
  const [organization = '', team = ''] = name.split('/');
  const parts = { organization, team, login: textIn(person, 'login') };
  const path = pathTemplate.replaceAll(/:(organization|team|login)/g, (_, part: keyof typeof parts) =>
    encodeSegment(parts[part]),
  );
  const { status, body } = await ask(path);
  if (status === 404) return false;
  // Without a `state`, the status alone is the answer.
  if (state === undefined && status === 204) return true;
  const membership = status === 200 ? parseJson(body) : undefined;
  if (state === undefined || !isObject(membership)) throw unusableAnswer();
  return textIn(membership, 'state') === state;
}

/** Encodes a name as one segment of a path. Dots alone are refused, because `..` would lead to another directory. */
function encodeSegment(name: string | undefined): string {
  if (name === undefined || /^\.*$/.test(name)) throw unusableAnswer();
  return encodeURIComponent(name);
}

type Matcher = (name: string, source: ValueSource, item: Item) => boolean;

const hasText: Matcher = (name, { fields, ignoresCase }, item) => isSame(name, joinedTextIn(item, fields), ignoresCase);

/** Reads an entry of `users`, an id or a login name. @returns its text, and the fields to compare the text with */
function readUserEntry(entry: string, { fields, name, isNameExact, ignoresCase }: ValueSource) {
  const [, id] = /^id:(\S.*)$/s.exec(entry) ?? [];
  // Without a field for login names (`name`), each entry is an id. An all-digit entry always matches ids only, because
  // anybody can choose somebody's id as a user name.
  const isId = name === undefined || id !== undefined || /^\d+$/.test(entry);
  return isId ? { fields, text: id ?? entry, ignoresCase } : { fields: [name], text: entry, ignoresCase: !isNameExact };
}

const isUser: Matcher = (entry, source, item) => {
  const { fields, text, ignoresCase } = readUserEntry(entry, source);
  return isSame(text, joinedTextIn(item, fields), ignoresCase);
};

const hasAddress: Matcher = (name, { fields }, item) => {
  const text = joinedTextIn(item, fields) ?? '';
  return isAddress(text) && isSame(name, text, true);
};

const hasDomain: Matcher = (name, { fields, isDomain }, item) => {
  const text = joinedTextIn(item, fields);
  return isSame(name, isDomain ? text : readDomain(text ?? ''), true);
};

/**
 * A text with commas is compared as a list and as a whole, because it may be the name of the only group. An answer from
 * another address (`from`) is always a list.
 */
const isInGroup: Matcher = (name, { fields: [field = ''], from, ignoresCase }, item) => {
  const whole = textIn(item, field);
  const groups = groupsIn(item, field, from !== undefined);
  return [whole, ...groups].some((group) => isSame(name, group, ignoresCase));
};

const matchers: Readonly<Record<AccessRule, Matcher>> = {
  users: isUser,
  organizations: hasText,
  teams: hasText,
  emails: hasAddress,
  emailDomains: hasDomain,
  groups: isInGroup,
};

function isSame(one: string, other: string | undefined, ignoresCase: boolean | undefined = false): boolean {
  if (other === undefined) return false;
  return ignoresCase ? lowerCase(one) === lowerCase(other) : one === other;
}

/**
 * Changes ASCII letters only, because the lower case of the Kelvin sign is an ASCII `k`, and would match another name.
 */
const lowerCase = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
