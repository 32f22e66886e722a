import { type Allow, allowAt, answerTo, rulesOf, splitName } from '../../access/allow.ts';
import { scopeBeyond } from '../../oauth/scope.ts';
import { openidAccess } from '../../providers/identity-servers.ts';
import type { AccessRule } from '../../providers/provider.ts';
import { findPreset } from '../provider.ts';
import type { ProviderSettings } from '../provider-settings.ts';
import type { Reading } from '../reading.ts';
import { completeValues, type FrontEndReading, type Readings, type RegistrationReading } from '../readings.ts';

const openToAll = 'has unregistered clients, and everybody at the provider may log in with them: set allow';

type Owner = Pick<FrontEndReading, 'allow' | 'registrations'>;

/** Names in these lists contain no colon themselves, so a colon can only follow the name of a provider. */
const withoutColon: readonly AccessRule[] = ['organizations', 'teams', 'emails', 'emailDomains'];

/** Undefined: everybody may log in. */
export function allowOf({ allow, registrations }: Owner): Allow | undefined {
  return allow && { ...completeValues(allow), registrations };
}

/**
 * Reports rules that a provider cannot answer, and names that different people could have.
 *
 * @param providers in the order of the registrations; undefined after a fault
 */
export function checkAllow(readings: Readings, providers: readonly (ProviderSettings | undefined)[]): void {
  const { registrations, resources, frontEnds } = readings;
  for (const [index, one] of registrations.entries()) {
    warnOfAssumedId(one, providers[index], readings);
    reportScopesWithoutIdToken(one, readings);
  }
  const providerOf = new Map(registrations.map(({ name }, index) => [name, providers[index]]));
  const learningGroups = resources.filter(({ values }) => values.identity?.includes('groups'));
  for (const one of [...registrations, ...resources, ...frontEnds]) {
    const { allow: reading, registrations: usable } = one;
    const allow = allowOf(one);
    if (reading === undefined || allow === undefined) continue;
    const isUsed =
      reading.isGiven('groups') || learningGroups.some(({ allowWithGroupsClaim }) => allowWithGroupsClaim === reading);
    if (reading.isGiven('groupsClaim') && !isUsed) {
      reading.reportFault('groupsClaim', 'has no effect without groups');
    }
    if (/[[\]]|^\$\./.test(allow.groupsClaim ?? '')) {
      reading.warn('groupsClaim', 'looks like JSONPath: it is read as names with dots between them, such as a.b.roles');
    }
    for (const rule of rulesOf(allow)) {
      if (reportAmbiguous(rule, allow[rule] ?? [], reading, usable)) continue;
      for (const name of usable) reportUnanswered(rule, allowAt(allow, name), reading, name, providerOf.get(name));
    }
  }
}

/**
 * Reports names that may belong to somebody else at another provider. @returns whether that is a fault, not a warning
 */
function reportAmbiguous(
  rule: AccessRule,
  names: readonly string[],
  { reportFault, warn }: Reading<'allow'>,
  registrations: readonly string[],
): boolean {
  const anywhere = names.filter((name) => splitName(name, registrations).at === undefined);
  if (withoutColon.includes(rule) && anywhere.some((name) => name.includes(':'))) {
    const before = 'must have no colon, except after the name of a provider that may be used here';
    reportFault(rule, `${before}: ${registrations.join(' or ')}`);
    return true;
  }
  if (anywhere.length === 0 || registrations.length < 2) return false;
  const which = `at which provider, as ${registrations.map((name) => `${name}:…`).join(' or ')}`;
  // Providers verify addresses, so an address belongs to one person everywhere.
  const isAddress = rule === 'emails' || rule === 'emailDomains';
  if (isAddress) warn(rule, `is good at each of its providers: say ${which}`);
  else reportFault(rule, `must say ${which}`);
  return !isAddress;
}

/**
 * Reports a rule that a provider cannot answer. Until an issuer is discovered, the claims of OpenID Connect are
 * assumed.
 */
function reportUnanswered(
  rule: AccessRule,
  allow: Allow,
  reading: Reading<'allow'>,
  registration: string,
  settings: ProviderSettings | undefined,
): void {
  if (settings === undefined || allow[rule] === undefined) return;
  const access = 'known' in settings ? settings.known.access : undefined;
  const answer = answerTo(rule, allow, access);
  if (answer.kind !== 'cannot') return;
  reading.reportFault(rule, `cannot be asked at the provider ${registration}: ${answer.why}`);
}

/** Warns if people are compared by a field of OpenID Connect, but the provider may not support that. */
function warnOfAssumedId(
  registration: RegistrationReading,
  settings: ProviderSettings | undefined,
  { registrations, resources, frontEnds }: Readings,
): void {
  if (settings === undefined) return;
  const { name, warn } = registration;
  const { access, scope } = 'known' in settings ? settings.known : settings.discovered.given;
  const isAssumed = (access?.users ?? openidAccess.users) === openidAccess.users;
  // With an issuer and no scope, the metadata decide whether the scope contains openid.
  const isDecidedLater = 'discovered' in settings && scope === undefined;
  const ownFrontEnds = frontEnds.filter((one) => one.usableRegistrations.some((its) => its.name === name));
  const speaksOpenId = [scope, ...ownFrontEnds.map(scopeOf)].some((one) => one?.split(' ').includes('openid'));
  if (!isAssumed || isDecidedLater || speaksOpenId) return;
  const owners = [...registrations, ...resources, ...frontEnds].filter((one) => one.registrations.includes(name));
  const isCompared = owners.some(({ allow }) => allow?.values.users !== undefined);
  if (!isCompared && !resources.some((one) => one.registration === name)) return;
  warn(
    'userId',
    'is not set, so users and resources look for the field sub of the user record: set it if the provider uses another field, or request the scope openid',
  );
}

const scopeOf = ({ values }: FrontEndReading) => values.scope;

/** Reports front ends whose logins get no ID token, although it has to say who the person is. */
function reportScopesWithoutIdToken({ name, values, describe }: RegistrationReading, { frontEnds }: Readings): void {
  if (values.userFrom !== 'id-token') return;
  for (const frontEnd of frontEnds) {
    const scope = scopeOf(frontEnd);
    const isUsed = frontEnd.registrations.includes(name);
    if (!isUsed || scope === undefined || scope.split(' ').includes('openid')) continue;
    frontEnd.reportFault('scope', `must have openid: ${describe('userFrom')} is id-token`);
  }
}

/** Warns if open clients share the OAuth application of a front end that requests more scopes. */
function warnOfWiderScopes(open: FrontEndReading, frontEnds: Readings['frontEnds']): void {
  for (const { name, values } of open.usableRegistrations) {
    const scopeOf = (one: FrontEndReading) => one.values.scope ?? values.scope ?? findPreset(values)?.provider.scope;
    const wider = frontEnds.find(
      (one) => one.registrations.includes(name) && scopeBeyond(scopeOf(one), scopeOf(open) ?? '').length > 0,
    );
    if (wider === undefined) continue;
    open.warn(
      'scope',
      `is narrower than that of ${wider.name}: if the provider adds scopes that a person granted before, these clients get no token. Register a second OAuth application for them`,
    );
  }
}

/** Checks the settings of unregistered clients: which front end admits them, and who may log in with them. */
export function checkOpenClients({ resources, frontEnds }: Readings): void {
  const taken: string[] = [];
  for (const frontEnd of frontEnds) {
    const { clients, values, registrations, isGiven, describe, warn, reportEntryFault } = frontEnd;
    const isNative = values.kind === 'native';
    if (clients === undefined) {
      const isReached = isGiven('clientKeyFile') || isGiven('redirectUri');
      if (isNative && !isReached) reportEntryFault('needs redirect-uris or clients');
      continue;
    }
    const opened = resources.filter(({ name }) => values.resources?.includes(name));
    // Whether some provider admits everybody: it has no `allow`, and the front end has either no resource there, or one
    // without `allow`.
    const isForAll = frontEnd.usableRegistrations.some(({ name, allow }) => {
      const there = opened.filter(({ registration }) => registration === name);
      return !allow && (there.length === 0 || there.some((resource) => !resource.allow));
    });
    if (isForAll && !frontEnd.allow) warn('kind', openToAll);
    if (!isNative) clients.reportEntryFault(`needs ${describe('kind')} native`);
    if (!clients.values.registration && !clients.isGiven('documents')) {
      clients.reportEntryFault('lets nobody in: give documents, or registration: true');
    }
    if (registrations.some((name) => taken.includes(name))) {
      clients.reportEntryFault('is the second for one provider: only one front end of each provider can have clients');
    }
    taken.push(...registrations);
    warnOfWiderScopes(frontEnd, frontEnds);
  }
}
