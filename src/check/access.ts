import { type Allow, allowAt, describeAllow, neededScopes } from '../access/allow.ts';
import type { Config, FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import { registrationsOf } from '../config/registration-config.ts';
import type { Provider } from '../providers/provider.ts';
import { type Finding, findingsOn } from './finding.ts';

/**
 * Says who may log in, and which scopes are missing to find that out. It asks nobody.
 *
 * @param described the providers that issuers have described, by the name of the registration
 */
export function checkAccess(config: Config, described: ReadonlyMap<string, Provider>): Finding[] {
  return config.frontEnds.flatMap((frontEnd) =>
    registrationsOf(config, frontEnd).flatMap((registration) => {
      const { provider: settings, name } = registration;
      const given = 'known' in settings ? settings.known : settings.discovered.given;
      return checkLogin(registration, frontEnd, described.get(name) ?? given);
    }),
  );
}

function checkLogin(
  registration: RegistrationConfig,
  frontEnd: FrontEndConfig,
  provider: Partial<Provider>,
): Finding[] {
  const at = `${frontEnd.name} at ${registration.name}`;
  const { ok, warning, problem, notChecked } = findingsOn(`who may log in (${at})`);
  const allows = [registration, frontEnd].flatMap(({ allow }) =>
    allow ? [allowAt(allow, registration.name)] : [],
  );
  if (allows.length === 0) {
    const isOpen = frontEnd.apis.some(({ registration: name }) => name === registration.name);
    return isOpen
      ? [warning('everybody with an account there may use proxy', 'say who may log in: set allow')]
      : [];
  }
  const said = ok(allows.map(describeAllow).join('; besides, '));
  const missing = missingScopes(allows, provider, frontEnd.scope ?? provider.scope);
  if (missing.length === 0) return [said];
  const message = `the scope has no ${missing.join(', and no ')}, so the provider does not say whether a person may log in`;
  const fix = `add ${missing.join(' and ')} to scope`;
  if (provider.appIdPrefix && registration.clientId.startsWith(provider.appIdPrefix)) {
    const permissions = 'give the GitHub App the permissions to read members and e-mail addresses';
    return [said, notChecked('a GitHub App needs permissions for it', permissions)];
  }
  // OpenID Connect alone does not say for sure which scope gives a claim.
  return [said, provider.access ? problem(message, fix) : warning(message, fix)];
}

/** The words that are missing in the scope of a login. A scope that the provider does not list gives nothing. */
function missingScopes(
  allows: readonly Allow[],
  { access, scopesSupported }: Partial<Provider>,
  scope = '',
): readonly string[] {
  const given = scope.split(' ');
  const missing = allows
    .flatMap((allow) => neededScopes(allow, access))
    .filter((words) => !words.some((word) => given.includes(word)))
    .map(([word = '']) => word);
  return [...new Set(missing)].filter((word) => scopesSupported?.includes(word) ?? true);
}
