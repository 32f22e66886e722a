import { hash } from 'node:crypto';
import { openidAccess } from '../providers/identity-servers.ts';
import {
  type AccessAnswer,
  type AccessAnswers,
  type AccessRule,
  accessRules,
  type Provider,
} from '../providers/provider.ts';

/**
 * Who may log in, as an `allow` of the configuration says. A person needs to match only one of its rules, which
 * `ask-if-allowed.ts` compares.
 */
export type Allow = { readonly [Rule in AccessRule]?: readonly string[] | undefined } & {
  readonly groupsClaim?: string | undefined;
  /** The registrations where people may log in. A name in a rule may begin with a registration, as in `github:ada`. */
  readonly registrations?: readonly string[];
};

/** The rules that are set in an `allow`. A person has to match one of them. */
export function rulesOf(allow: Allow): AccessRule[] {
  return accessRules.filter((rule) => allow[rule] !== undefined);
}

/**
 * Splits `github:ada` into registration and name. `at` is undefined unless the text begins with one of the
 * registrations, because a name may contain colons too.
 */
export function splitName(text: string, registrations: readonly string[] = []) {
  const [, prefix = '', name = ''] = /^([^:]+):(\S.*)$/s.exec(text) ?? [];
  return registrations.includes(prefix) ? { at: prefix, name } : { at: undefined, name: text };
}

/** The part of an `allow` that applies at one registration. A name of another registration matches nobody here. */
export function allowAt(allow: Allow, registration: string): Allow {
  const rules = rulesOf(allow).map((rule) => {
    const entries = (allow[rule] ?? []).map((text) => splitName(text, allow.registrations));
    const names = entries.filter(({ at = registration }) => at === registration).map(({ name }) => name);
    return [rule, names.length > 0 ? names : undefined] as const;
  });
  return { groupsClaim: allow.groupsClaim, ...Object.fromEntries(rules) };
}

/**
 * Every `allow` that a person has to match at a registration.
 *
 * @param guarded the front end and the resource of the login, if they have an `allow` of their own
 * @returns first the `allow` of the registration, then those of `guarded` in their order. `refusedBy` of a verdict is an
 *   index in this list, by which the log and `check` name the owner of the rule
 */
export function allowsOf(
  { name, allow }: { readonly name: string; readonly allow: Allow | undefined },
  guarded: readonly ({ readonly allow: Allow | undefined } | undefined)[],
): (Allow | undefined)[] {
  return [allow, ...guarded.map((one) => one?.allow)].map((one) => one && allowAt(one, name));
}

/** The settings of a provider that decide who a person is. */
export type PersonSource = Pick<Provider, 'access' | 'userFrom'>;

/**
 * Hashes the rules that decide who a person is and who is allowed. The order inside a rule does not matter. A token
 * contains the hash, so that a changed rule ends the token.
 *
 * The hash covers the fields that identify people. Otherwise, if an operator stops trusting a field that people can
 * edit, tokens whose id came from that field would stay valid.
 */
export function hashRules(
  allows: readonly (Allow | undefined)[],
  { access, userFrom }: PersonSource,
  { groupsClaim }: Pick<Allow, 'groupsClaim'>,
): string {
  const sorted = allows.map((allow) => [
    allow?.groupsClaim,
    ...accessRules.map((rule) => allow?.[rule]?.toSorted((one, other) => (one < other ? -1 : 1))),
  ]);
  return hash('sha256', JSON.stringify([sorted, access, userFrom, groupsClaim]), 'base64url').slice(0, 16);
}

/**
 * How a provider can be asked about a rule, or why it cannot.
 *
 * @param access the provider's own answers; undefined for the answers of OpenID Connect
 */
export function answerTo(
  rule: AccessRule,
  { groupsClaim }: Pick<Allow, 'groupsClaim'>,
  access: AccessAnswers = openidAccess,
): AccessAnswer {
  // Without another answer about domains, the domain of a verified address counts.
  const answer = access[rule] ?? (rule === 'emailDomains' ? access.emails : undefined);
  if (answer === undefined) return cannot('the provider does not say that of a person');
  if (rule !== 'groups' || answer.kind !== 'values') return answer;
  if (groupsClaim === undefined) {
    const hasField = answer.fields.length > 0;
    return hasField ? answer : cannot('its user record has no groups: set groups-claim');
  }
  // `groups-claim` names a field of the user record, but this provider has the groups at another address.
  if (answer.from !== undefined) return cannot('groups-claim does not apply to it');
  return { ...answer, fields: [groupsClaim] };
}

const cannot = (why: string): AccessAnswer => ({ kind: 'cannot', why });

const ruleTitles = {
  users: ['the user', 'the users'],
  organizations: ['the organization', 'the organizations'],
  teams: ['the team', 'the teams'],
  emails: ['the verified address', 'the verified addresses'],
  emailDomains: ['the e-mail domain', 'the e-mail domains'],
  groups: ['the group', 'the groups'],
} as const satisfies Record<AccessRule, readonly [one: string, several: string]>;

/** Describes an `allow` to people, as in `the user octocat, or the organization example`. */
export function describeAllow(allow: Allow): string {
  const parts = rulesOf(allow).map((rule) => {
    const names = allow[rule] ?? [];
    return `${ruleTitles[rule][names.length === 1 ? 0 : 1]} ${names.join(', ')}`;
  });
  return parts.join(', or ') || 'nobody';
}

/** The scopes that the questions of an `allow` need, each as a list of alternatives. */
export function neededScopes(allow: Allow, access: AccessAnswers | undefined): string[][] {
  return scopesOf(rulesOf(allow).map((rule) => answerTo(rule, allow, access)));
}

/**
 * The scopes that a provider requires for answers, each as a list of alternatives. A preset writes `a|b c` for `a` or
 * `b`, and also `c`, which becomes `[[a, b], [c]]`.
 */
export function scopesOf(answers: readonly AccessAnswer[]): string[][] {
  const needs = answers.flatMap((answer) => (answer.kind === 'cannot' ? [] : (answer.scope?.split(' ') ?? [])));
  return [...new Set(needs)].map((need) => need.split('|'));
}

/**
 * Adds to a part of a scope the words that the relay needs, as far as the whole scope has them.
 *
 * @param part undefined if the provider decides which scope it grants
 * @param whole the configured or granted scope. No word is added that it does not have
 * @param needed lists of alternatives: one word of each list is enough
 */
export function withNeededScopes(
  part: string | undefined,
  whole: string | undefined,
  needed: readonly (readonly string[])[],
): string | undefined {
  if (part === undefined || whole === undefined) return part;
  // GitHub also takes a scope with commas between its words.
  const chosen = part.split(/[ ,]+/);
  const all = whole.split(/[ ,]+/);
  const missing = needed.filter((alternatives) => !alternatives.some((word) => chosen.includes(word)));
  const added = missing.flatMap((alternatives) => alternatives.find((word) => all.includes(word)) ?? []);
  return [part, ...new Set(added)].join(' ');
}
