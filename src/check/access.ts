import { type Allow, allowAt, describeAllow, neededScopes } from '../access/allow.ts';
import { scopesOfIdentity } from '../access/identity.ts';
import type { Config, FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import { registrationsOf, resourcesAt } from '../config/registration-config.ts';
import type { Provider } from '../providers/provider.ts';
import { type Finding, type Findings, findingsOn } from './finding.ts';

type ResourceConfig = Config['resources'][number];

/** A way to log in. */
interface Login {
  readonly registration: RegistrationConfig;
  readonly frontEnd: FrontEndConfig;
  readonly provider: Partial<Provider>;
  /** What it is for. Undefined: the provider's API. */
  readonly resource?: ResourceConfig;
}

/**
 * Says who may log in, or use a resource, and which scopes are missing to find that out. It asks nobody.
 *
 * @param described the providers that issuers have described, by the name of the registration
 */
export function checkAccess(config: Config, described: ReadonlyMap<string, Provider>): Finding[] {
  return config.frontEnds.flatMap((frontEnd) =>
    registrationsOf(config, frontEnd).flatMap((registration) => {
      const { provider: settings, name } = registration;
      const given = 'known' in settings ? settings.known : settings.discovered.given;
      const login = { registration, frontEnd, provider: described.get(name) ?? given };
      const [first, ...others] = resourcesAt(config, frontEnd, registration);
      if (first === undefined) return checkLogin(login);
      return [first, ...others].flatMap((resource) => checkLogin({ ...login, resource }));
    }),
  );
}

/** What of a login's rules can be seen. Without any, a login alone opens only what the person may do anyway. */
function checkLogin(login: Login): Finding[] {
  const { registration, frontEnd, resource } = login;
  const subject = resource ? `who may use ${resource.name}` : 'who may log in';
  const findings = findingsOn(`${subject} (${frontEnd.name} at ${registration.name})`);
  const allows = [registration, frontEnd, resource].flatMap((one) =>
    one?.allow ? [allowAt(one.allow, registration.name)] : [],
  );
  if (allows.length > 0) {
    const said = findings.ok(allows.map(describeAllow).join('; besides, '));
    return [said, ...checkScopes(login, allows, findings)];
  }
  const hasProxy = frontEnd.apis.some(({ registration: name }) => name === registration.name);
  const opened = resource?.name ?? (hasProxy ? 'proxy' : undefined);
  const message = `everybody with an account there may use ${opened}`;
  return [
    ...(opened ? [findings.warning(message, 'say who may log in: set allow')] : []),
    ...checkScopes(login, allows, findings),
  ];
}

function checkScopes(
  { registration, frontEnd, provider, resource }: Login,
  allows: readonly Allow[],
  { notChecked, problem, warning }: Findings,
): Finding[] {
  const needed = [
    ...allows.flatMap((allow) => neededScopes(allow, provider.access)),
    ...(resource ? scopesOfIdentity(resource.identity, provider.access) : []),
  ];
  const missing = missingScopes(needed, provider, frontEnd.scope ?? provider.scope);
  if (missing.length === 0) return [];
  const unsaid = resource ? 'who a person is' : 'whether a person may log in';
  const message = `the scope has no ${missing.join(', and no ')}, so the provider does not say ${unsaid}`;
  const fix = `add ${missing.join(' and ')} to scope`;
  if (provider.appIdPrefix && registration.clientId.startsWith(provider.appIdPrefix)) {
    const permissions = 'give the GitHub App the permissions to read members and e-mail addresses';
    return [notChecked('a GitHub App needs permissions for it', permissions)];
  }
  // OpenID Connect alone does not say for sure which scope gives a claim.
  return [provider.access ? problem(message, fix) : warning(message, fix)];
}

/**
 * The words that are missing in the scope of a login. A scope that the provider does not list gives nothing.
 *
 * @param needed words of which one is enough, for each need
 */
function missingScopes(
  needed: readonly (readonly string[])[],
  { scopesSupported }: Partial<Provider>,
  scope = '',
): readonly string[] {
  const given = scope.split(' ');
  const missing = needed
    .filter((words) => !words.some((word) => given.includes(word)))
    .map(([word = '']) => word);
  return [...new Set(missing)].filter((word) => scopesSupported?.includes(word) ?? true);
}
