import { hash } from 'node:crypto';
import { openidAccess } from '../providers/identity-servers.ts';
import {
  type AccessAnswer,
  type AccessAnswers,
  type AccessRule,
  accessRules,
  type Provider,
} from '../providers/provider.ts';

/** Who may log in. One match of any rule is enough. */
export type Allow = { readonly [Rule in AccessRule]?: readonly string[] | undefined } & {
  readonly groupsClaim?: string | undefined;
  /** The registrations where people may log in. Names may begin with one of them, as in `github:ada`. */
  readonly registrations?: readonly string[];
};

export function rulesOf(allow: Allow): AccessRule[] {
  return accessRules.filter((rule) => allow[rule] !== undefined);
}

/** Splits `github:ada`. Names may contain colons themselves, so `github` must be one of the registrations. */
export function splitName(text: string, registrations: readonly string[] = []) {
  const [, at = '', name = ''] = /^([^:]+):(\S.*)$/s.exec(text) ?? [];
  return registrations.includes(at) ? { at, name } : { at: undefined, name: text };
}

/** The part of an `allow` that applies at one registration. A name of another registration matches nobody here. */
export function allowAt(allow: Allow, registration: string): Allow {
  const rules = rulesOf(allow).map((rule) => {
    const split = (allow[rule] ?? []).map((text) => splitName(text, allow.registrations));
    const here = split.filter(({ at = registration }) => at === registration);
    return [rule, here.length > 0 ? here.map(({ name }) => name) : undefined] as const;
  });
  return { groupsClaim: allow.groupsClaim, ...Object.fromEntries(rules) };
}

/** Every `allow` that a person has to match: of the registration, and of what it guards. */
export function allowsOf(
  { name, allow }: { readonly name: string; readonly allow: Allow | undefined },
  guarded: readonly ({ readonly allow: Allow | undefined } | undefined)[],
): (Allow | undefined)[] {
  return [allow, ...guarded.map((one) => one?.allow)].map((one) => one && allowAt(one, name));
}

export type PersonSource = Pick<Provider, 'access' | 'userFrom'>;

/**
 * A hash of the rules that decide who a person is and who is allowed. The order inside a rule does not matter.
 *
 * A token contains it. It includes the fields that identify people: otherwise, an operator who no longer trusts a field
 * that people can edit would leave tokens valid whose id came from that field.
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

/** How a provider answers a rule, or why it cannot. */
export function answerTo(
  rule: AccessRule,
  { groupsClaim }: Pick<Allow, 'groupsClaim'>,
  access: AccessAnswers = openidAccess,
): AccessAnswer {
  // If the provider has no other answer, the domain of a verified address counts.
  const answer = access[rule] ?? (rule === 'emailDomains' ? access.emails : undefined);
  if (answer === undefined) return cannot('the provider does not say that of a person');
  if (rule !== 'groups' || answer.kind !== 'values') return answer;
  if (groupsClaim === undefined) {
    const hasGroups = answer.fields.length > 0;
    return hasGroups ? answer : cannot('its user record has no groups: set groups-claim');
  }
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

/** Who may log in, for people: `the user octocat, or the organization example`. */
export function describeAllow(allow: Allow): string {
  const parts = rulesOf(allow).map((rule) => {
    const names = allow[rule] ?? [];
    return `${ruleTitles[rule][names.length === 1 ? 0 : 1]} ${names.join(', ')}`;
  });
  return parts.join(', or ') || 'nobody';
}

/** The scopes that an `allow` needs, each as a list of alternatives. */
export function neededScopes(allow: Allow, access: AccessAnswers | undefined): string[][] {
  return scopesOf(rulesOf(allow).map((rule) => answerTo(rule, allow, access)));
}

/** The scopes that a provider needs for answers. `a|b c` means `a` or `b`, and `c`: `[[a, b], [c]]`. */
export function scopesOf(answers: readonly AccessAnswer[]): string[][] {
  const needs = answers.flatMap((answer) => (answer.kind === 'cannot' ? [] : (answer.scope?.split(' ') ?? [])));
  return [...new Set(needs)].map((need) => need.split('|'));
}

/**
 * A part of a scope, with the further words of the whole scope that are needed.
 *
 * @param part undefined if the provider decides
 * @param needed for each need, the words of which one is enough
 */
export function withNeededScopes(
  part: string | undefined,
  whole: string | undefined,
  needed: readonly (readonly string[])[],
): string | undefined {
  const chosen = part?.split(' ');
  const all = whole?.split(/[ ,]+/);
  if (chosen === undefined || all === undefined) return part;
  const missing = needed.filter((words) => !words.some((word) => chosen.includes(word)));
  const more = missing.flatMap((words) => words.find((word) => all.includes(word)) ?? []);
  return [...new Set([...chosen, ...more])].join(' ');
}
