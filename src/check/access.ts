import { type Allow, describeAllow, neededScopes } from '../access/allow.ts';
import type { Config, FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import { registrationsOf } from '../relay/registration-config.ts';
import { type Finding, findingsOn } from './finding.ts';

/** Client identifiers of GitHub Apps: such an app has permissions instead of scopes. */
const gitHubApp = /^Iv/;

/** Says who may log in, and which scopes are missing to find that out. It asks nobody. */
export function checkAccess(config: Config): Finding[] {
  return config.frontEnds.flatMap((frontEnd) =>
    registrationsOf(config, frontEnd).flatMap((registration) => checkLogin(registration, frontEnd)),
  );
}

function checkLogin(registration: RegistrationConfig, frontEnd: FrontEndConfig): Finding[] {
  const at = `${frontEnd.name} at ${registration.name}`;
  const { ok, warning, problem, notChecked } = findingsOn(`who may log in (${at})`);
  const allows = [registration.allow, frontEnd.allow].filter((allow) => allow !== undefined);
  if (allows.length === 0) {
    const isOpen = frontEnd.apis.some(({ registration: name }) => name === registration.name);
    return isOpen
      ? [warning('everybody with an account there may use proxy', 'say who may log in: set allow')]
      : [];
  }
  const said = ok(allows.map(describeAllow).join('; besides, '));
  const missing = missingScopes(allows, registration, frontEnd);
  if (missing.length === 0) return [said];
  const isKnown = 'known' in registration.provider;
  const message = `the scope has no ${missing.join(', and no ')}, so the provider does not say whether a person may log in`;
  const fix = `add ${missing.join(' and ')} to scope`;
  if (gitHubApp.test(registration.clientId)) {
    const permissions = 'give the GitHub App the permissions to read members and e-mail addresses';
    return [said, notChecked('a GitHub App needs permissions for it', permissions)];
  }
  return [said, isKnown ? problem(message, fix) : warning(message, fix)];
}

/** The words that are missing in the scope of a login. */
function missingScopes(
  allows: readonly Allow[],
  { provider: settings }: RegistrationConfig,
  frontEnd: FrontEndConfig,
): readonly string[] {
  const provider = 'known' in settings ? settings.known : settings.discovered.given;
  const scope = (frontEnd.scope ?? provider.scope ?? '').split(' ');
  const needed = allows.flatMap((allow) => neededScopes(allow, provider.access));
  const missing = needed.filter((words) => !words.some((word) => scope.includes(word)));
  return [...new Set(missing.map(([word = '']) => word))];
}
