import { type Allow, allowsOf, describeAllow, neededScopes } from '../access/allow.ts';
import { scopesOfIdentity } from '../access/identity.ts';
import type { Config, FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import { configuredProvider } from '../config/provider-settings.ts';
import {
  frontEndOfDoor,
  type ResourceAtRegistration,
  registrationsOfFrontEnd,
  reportedName,
  resourcesOfFrontEnd,
} from '../config/relations.ts';
import { openidAccess } from '../providers/identity-servers.ts';
import type { Provider } from '../providers/provider.ts';
import { type Finding, type Findings, findingsOn } from './finding.ts';

/** A way to log in: a front end at a registration, for a resource or for the provider's API. */
interface LoginWay {
  readonly registration: RegistrationConfig;
  readonly frontEnd: FrontEndConfig;
  /** The name of the front end in reports. */
  readonly caller: string;
  readonly provider: Partial<Provider>;
  readonly resource?: ResourceAtRegistration;
}

/**
 * Checks who may log in or use a resource, and which scopes that needs. It makes no calls.
 *
 * @param described the providers that issuers described, by registration
 */
export function checkAccess(config: Config, described: ReadonlyMap<string, Provider>): Finding[] {
  return findLoginWays(config, described).flatMap(checkRules);
}

/** The scopes that OpenID Connect itself defines and that `allow` or `identity` may need. @see OpenID Connect Core 1.0 §5.4 */
const scopesOfEveryIssuer = ['openid', 'profile', 'email'];

/**
 * Finds scopes that `allow` and `identity` need and that no login requests, as far as the configuration alone shows it.
 * At an issuer whose metadata are not known yet, it looks only for the scopes that every issuer has.
 */
export function findMissingScopes(config: Config): Finding[] {
  const assumed = config.registrations.flatMap(({ name, provider }) =>
    'discovered' in provider
      ? [[name, { ...provider.discovered.given, scopesSupported: scopesOfEveryIssuer }] as const]
      : [],
  );
  return findLoginWays(config, new Map(assumed))
    .flatMap(checkScopes)
    .filter(({ verdict }) => verdict !== 'not_checked');
}

/** Finds every way in which a person can log in. */
function findLoginWays(config: Config, described: ReadonlyMap<string, Partial<Provider>>): readonly LoginWay[] {
  // The entry of a machine is its permission, so no rule applies.
  const browsers = config.resources.filter(({ browser }) => browser !== undefined).map(frontEndOfDoor);
  const frontEnds = [...config.frontEnds.filter(({ kind }) => kind !== 'machine'), ...browsers];
  return frontEnds.flatMap((frontEnd) =>
    registrationsOfFrontEnd(config, frontEnd).flatMap((registration): LoginWay[] => {
      const provider = described.get(registration.name) ?? configuredProvider(registration.provider);
      const way = { registration, frontEnd, caller: reportedName(config, frontEnd), provider };
      const resources = resourcesOfFrontEnd(config, frontEnd, registration);
      return resources.length > 0 ? resources.map((resource) => ({ ...way, resource })) : [way];
    }),
  );
}

/**
 * Describes the `allow` rules of a login. If a scope for the rules is missing, the same finding says so, because the
 * rules would refuse every person. Without rules, it warns only about a proxy or a resource, because the provider's own
 * token opens only what the person may use anyway.
 */
function checkRules(way: LoginWay): Finding[] {
  const { registration, frontEnd, resource } = way;
  const findings = findingsOnWay(way);
  const allows = allowsOfWay(way);
  const ofScopes = checkScopes(way);
  if (allows.length > 0) {
    const rules = allows.map(describeAllow).join('; besides, ');
    if (ofScopes.length === 0) return [findings.ok(rules)];
    return ofScopes.map((finding) => ({ ...finding, message: `${rules}, but ${finding.message}` }));
  }
  const hasProxy = frontEnd.apis.some(({ registration: name }) => name === registration.name);
  const openToAll = resource?.name ?? (hasProxy ? 'proxy' : undefined);
  if (openToAll === undefined) return ofScopes;
  const message = `everybody with an account there may use ${openToAll}`;
  return [findings.warning(message, 'say who may log in: set allow'), ...ofScopes];
}

/** Creates findings whose subject names the way of a login: the caller, the registration and the resource. */
function findingsOnWay({ registration, caller, resource }: LoginWay): Findings {
  const subject = resource ? `who may use ${resource.name}` : 'who may log in';
  return findingsOn(`${subject} (${caller} at ${registration.name})`);
}

/** Every `allow` that a person has to match. */
function allowsOfWay({ registration, frontEnd, resource }: LoginWay): readonly Allow[] {
  return allowsOf(registration, [frontEnd, resource]).filter((allow) => allow !== undefined);
}

/** Compares the scope of a login with what its rules and its resource's identity need. */
function checkScopes(way: LoginWay): Finding[] {
  const { registration, frontEnd, provider, resource } = way;
  const { notChecked, problem, warning } = findingsOnWay(way);
  const needed = allowsOfWay(way).flatMap((allow) => neededScopes(allow, provider.access));
  if (resource) needed.push(...scopesOfIdentity(resource.identity, provider.access));
  const missing = missingScopes(needed, provider, frontEnd.scope ?? provider.scope);
  if (missing.length === 0) return [];
  const unknown = resource ? 'who a person is' : 'whether a person may log in';
  const message = `the scope has no ${missing.join(', and no ')}, so the provider does not say ${unknown}`;
  const fix = `add ${missing.join(' and ')} to scope`;
  // A GitHub App has permissions instead of scopes. Only a call with a person's token shows them.
  if (provider.appIdPrefix && registration.clientId.startsWith(provider.appIdPrefix)) {
    const permissions = 'give the GitHub App the permissions to read members and e-mail addresses';
    return [notChecked('a GitHub App needs permissions for it', permissions)];
  }
  if (!isScopeUncertain(provider)) return [problem(message, fix)];
  return [warning(message, `${fix}, if the provider has that; check --login shows what it answers`)];
}

/**
 * Whether it is uncertain which scope a provider wants, because neither a preset nor OpenID Connect says how it
 * describes people. Either nothing says it, or settings such as `user-id` do.
 */
function isScopeUncertain({ access }: Partial<Provider>): boolean {
  // Such settings make a copy of `openidAccess` with other users and addresses, but with the same object for groups
  // (`readAccess` in config/person-settings.ts). Presets that copy it have groups of their own.
  return access === undefined || (access !== openidAccess && access.groups === openidAccess.groups);
}

/**
 * Finds the words to add to the scope of a login. Words that the provider does not list are left out, because they
 * would grant nothing.
 *
 * @param needed a list of alternatives for each need. Any of them is enough, and the first is recommended
 */
function missingScopes(
  needed: readonly (readonly string[])[],
  { scopesSupported }: Partial<Provider>,
  scope = '',
): readonly string[] {
  const requested = scope.split(' ');
  const unmet = needed.filter((alternatives) => !alternatives.some((word) => requested.includes(word)));
  const recommended = new Set(unmet.map(([word = '']) => word));
  return [...recommended].filter((word) => scopesSupported === undefined || scopesSupported.includes(word));
}
