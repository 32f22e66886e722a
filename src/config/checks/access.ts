import { type Allow, allowAt, answerTo, rulesOf, splitName } from '../../access/allow.ts';
import { scopeBeyond } from '../../oauth/scope.ts';
import { openidAccess } from '../../providers/identity-servers.ts';
import type { AccessRule } from '../../providers/provider.ts';
import { findPreset } from '../assemble-provider.ts';
import type { Reading } from '../map-reading.ts';
import { configuredProvider, type ProviderSettings } from '../provider-settings.ts';
import { completeValues, type FrontEndReading, type Readings, type RegistrationReading } from '../readings.ts';

const openToAll = 'has unregistered clients, and everybody at the provider may log in with them: set allow';

/** In these rules, `github:acme` can only mean `acme` at `github`, because their names contain no colon. */
const rulesWithoutColon: readonly AccessRule[] = ['organizations', 'teams', 'emails', 'emailDomains'];

/** The access rules of a registration, resource or front end; undefined if it has none, so that everybody may log in. */
export function allowOf({ allow, registrations }: Pick<FrontEndReading, 'allow' | 'registrations'>): Allow | undefined {
  return allow && { ...completeValues(allow), registrations };
}

/**
 * Checks every `allow`, and how the providers say who a person is. Reports rules that a provider cannot answer, names
 * that different people could have, settings of groups without effect, and scopes without an ID token that is needed.
 * Warns if people are compared by a field that the provider may not have.
 *
 * @param providers in the order of the registrations; undefined after a fault
 */
export function checkAllow(readings: Readings, providers: readonly (ProviderSettings | undefined)[]): void {
  const { registrations, resources, frontEnds } = readings;
  for (const [index, registration] of registrations.entries()) {
    warnOfAssumedId(registration, providers[index], readings);
    reportScopesWithoutIdToken(registration, readings);
  }
  const providerByName = new Map(registrations.map(({ name }, index) => [name, providers[index]]));
  for (const owner of [...registrations, ...resources, ...frontEnds]) {
    const { allow: reading, registrations: registrationNames } = owner;
    const allow = allowOf(owner);
    if (reading === undefined || allow === undefined) continue;
    checkGroupsClaim(reading, resources);
    for (const rule of rulesOf(allow)) {
      if (reportAmbiguousNames(rule, allow[rule] ?? [], reading, registrationNames)) continue;
      for (const name of registrationNames) {
        reportUnanswered(rule, allowAt(allow, name), reading, name, providerByName.get(name));
      }
    }
  }
}

/** Reports a groups claim that nothing uses, and warns about a claim in the syntax of JSONPath. */
function checkGroupsClaim(reading: Reading<'allow'>, resources: Readings['resources']): void {
  const isUsedByResource = resources.some(
    ({ values, registrations, allowWithGroupsClaim }) =>
      values.identity?.includes('groups') && registrations.some((name) => allowWithGroupsClaim(name) === reading),
  );
  if (reading.isGiven('groupsClaim') && !reading.isGiven('groups') && !isUsedByResource) {
    reading.reportFault('groupsClaim', 'has no effect without groups');
  }
  if (/[[\]]|^\$\./.test(completeValues(reading).groupsClaim ?? '')) {
    reading.warn('groupsClaim', 'looks like JSONPath: it is read as names with dots between them, such as a.b.roles');
  }
}

/**
 * Reports names without a provider that may belong to different people at different providers. Addresses only cause a
 * warning, because providers verify them, so that an address belongs to the same person everywhere.
 *
 * @returns whether it reported a fault
 */
function reportAmbiguousNames(
  rule: AccessRule,
  names: readonly string[],
  { reportFault, warn }: Reading<'allow'>,
  registrations: readonly string[],
): boolean {
  // Another fault says already that the provider is missing.
  if (registrations.length === 0) return false;
  const withoutProvider = names.filter((name) => splitName(name, registrations).at === undefined);
  if (rulesWithoutColon.includes(rule) && withoutProvider.some((name) => name.includes(':'))) {
    const message = 'must have no colon, except after the name of a provider that may be used here';
    reportFault(rule, `${message}: ${registrations.join(' or ')}`);
    return true;
  }
  if (withoutProvider.length === 0 || registrations.length < 2) return false;
  const which = `at which provider, as ${registrations.map((name) => `${name}:…`).join(' or ')}`;
  if (rule === 'emails' || rule === 'emailDomains') {
    warn(rule, `is good at each of its providers: say ${which}`);
    return false;
  }
  reportFault(rule, `must say ${which}`);
  return true;
}

/** Reports a rule that a provider cannot answer. Metadata cannot change the answers. */
function reportUnanswered(
  rule: AccessRule,
  allow: Allow,
  reading: Reading<'allow'>,
  registration: string,
  settings: ProviderSettings | undefined,
): void {
  if (settings === undefined || allow[rule] === undefined) return;
  const { access } = configuredProvider(settings);
  const answer = answerTo(rule, allow, access);
  if (answer.kind !== 'cannot') return;
  reading.reportFault(rule, `cannot be asked at the provider ${registration}: ${answer.why}`);
}

/** Warns if people are compared by `sub`, the id of OpenID Connect, which the provider may not have. */
function warnOfAssumedId(
  registration: RegistrationReading,
  settings: ProviderSettings | undefined,
  { registrations, resources, frontEnds }: Readings,
): void {
  if (settings === undefined) return;
  const { name, warn } = registration;
  const { access, scope } = configuredProvider(settings);
  const isSubAssumed = (access?.users ?? openidAccess.users) === openidAccess.users;
  // With an issuer and no scope, the metadata decide whether the scope contains openid.
  const isDecidedLater = 'discovered' in settings && scope === undefined;
  const usesRegistration = (owner: { readonly registrations: readonly string[] }) => owner.registrations.includes(name);
  const scopes = [scope, ...frontEnds.filter(usesRegistration).map((frontEnd) => frontEnd.values.scope)];
  const requestsOpenid = scopes.some((words) => words?.split(' ').includes('openid'));
  if (!isSubAssumed || isDecidedLater || requestsOpenid) return;
  const owners = [...registrations, ...resources, ...frontEnds].filter(usesRegistration);
  const isCompared = owners.some(({ allow }) => allow?.values.users !== undefined) || resources.some(usesRegistration);
  if (!isCompared) return;
  warn(
    'userId',
    'is not set, so users and resources look for the field sub of the user record: set it if the provider uses another field, or request the scope openid',
  );
}

/** Reports front ends whose logins get no ID token, although it has to say who the person is. */
function reportScopesWithoutIdToken({ name, values, describe }: RegistrationReading, { frontEnds }: Readings): void {
  if (values.userFrom !== 'id-token') return;
  for (const frontEnd of frontEnds) {
    const { scope } = frontEnd.values;
    const usesRegistration = frontEnd.registrations.includes(name);
    if (!usesRegistration || scope === undefined || scope.split(' ').includes('openid')) continue;
    frontEnd.reportFault('scope', `must have openid: ${describe('userFrom')} is id-token`);
  }
}

/**
 * Warns if the unregistered clients of a front end share its OAuth application with another front end that requests
 * more scopes.
 */
function warnOfWiderScopes(openFrontEnd: FrontEndReading, frontEnds: Readings['frontEnds']): void {
  for (const { name, values } of openFrontEnd.usableRegistrations) {
    const scopeByDefault = values.scope ?? findPreset(values)?.provider.scope;
    const openScope = openFrontEnd.values.scope ?? scopeByDefault ?? '';
    const wider = frontEnds.find(
      (other) =>
        other.registrations.includes(name) && scopeBeyond(other.values.scope ?? scopeByDefault, openScope).length > 0,
    );
    if (wider === undefined) continue;
    openFrontEnd.warn(
      'scope',
      `is narrower than that of ${wider.name}: if the provider adds scopes that a person granted before, these clients get no token. Register a second OAuth application for them`,
    );
  }
}

/** Checks the settings of unregistered clients: which front end admits them, and who may log in with them. */
export function checkOpenClients({ resources, frontEnds }: Readings): void {
  const servedRegistrations: string[] = [];
  for (const frontEnd of frontEnds) {
    const { clients, values, registrations, isGiven, describe, warn, reportEntryFault } = frontEnd;
    const isNative = values.kind === 'native';
    if (clients === undefined) {
      const hasClients = isGiven('clientKeyFile') || isGiven('redirectUri');
      if (isNative && !hasClients) reportEntryFault('needs redirect-uris or clients');
      continue;
    }
    if (admitsEverybody(frontEnd, resources)) warn('kind', openToAll);
    if (!isNative) clients.reportEntryFault(`needs ${describe('kind')} native`);
    if (!clients.values.registration && !clients.isGiven('documents')) {
      clients.reportEntryFault('lets nobody in: give documents, or registration: true');
    }
    if (registrations.some((name) => servedRegistrations.includes(name))) {
      clients.reportEntryFault('is the second for one provider: only one front end of each provider can have clients');
    }
    servedRegistrations.push(...registrations);
    warnOfWiderScopes(frontEnd, frontEnds);
  }
}

/** Whether everybody at one of its providers can log in at a front end, because no `allow` applies to that login. */
function admitsEverybody(frontEnd: FrontEndReading, resources: Readings['resources']): boolean {
  if (frontEnd.allow) return false;
  const ownResources = resources.filter(({ name }) => frontEnd.values.resources?.includes(name));
  return frontEnd.usableRegistrations.some(({ name, allow }) => {
    if (allow) return false;
    const there = ownResources.filter((resource) => resource.registrations.includes(name));
    return there.length === 0 || there.some((resource) => !resource.allow);
  });
}
