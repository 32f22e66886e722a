import { registrationOfCms } from '../../login/cms-registration.ts';
import { presets } from '../../providers/presets.ts';
import type { CmsBackend } from '../../providers/provider.ts';
import type { Reading } from '../reading.ts';
import type { FrontEndReading, Readings, RegistrationReading } from '../readings.ts';

const cmsPresets = presets.filter(({ cms }) => cms !== undefined);
const cmsPresetNames = cmsPresets.map(({ name }) => name).join(', ');

/** Client identifiers of GitHub Apps. Such an app has permissions of its own, and ignores scopes. */
const gitHubApp = /^Iv/;

/** A CMS at a registration that it may use. */
interface CmsLogin {
  readonly frontEnd: FrontEndReading;
  readonly registration: RegistrationReading;
  readonly preset: (typeof cmsPresets)[number] | undefined;
}

/** Reports what keeps the front ends that are CMSes from logging in, or from their repositories. */
export function reportCmses({ registrations, frontEnds }: Readings): void {
  const cmses = frontEnds.filter(({ values }) => values.tokenDelivery === 'cms');
  const logins = cmses.flatMap((frontEnd) =>
    registrations
      .filter(({ name }) => frontEnd.registrations.includes(name))
      .map((registration) => ({ frontEnd, registration, preset: cmsPresetOf(registration) })),
  );
  for (const login of logins) {
    reportProvider(login);
    warnOfScope(login);
  }
  for (const login of logins) warnOfPath(login, logins, registrations);
}

function reportProvider({ frontEnd: { entryName, fault }, registration, preset }: CmsLogin): void {
  if (preset !== undefined) return;
  const which =
    entryName === undefined
      ? ''
      : `. ${registration.name} uses none of them: set its provider, or leave it out of providers`;
  fault('tokenDelivery', `works with the provider presets ${cmsPresetNames} only${which}`);
}

function warnOfScope({ frontEnd, registration, preset }: CmsLogin): void {
  if (preset?.cms === undefined) return;
  const { clientId, scope = preset.scope } = registration.values;
  const { frontEndScope = scope } = frontEnd.values;
  if (reachesRepositories(preset.cms, clientId, frontEndScope)) return;
  frontEnd.warn(
    'tokenDelivery',
    `is cms, but the scope at ${registration.name} gives no access to repositories: add ${preset.cms.repositoryScopes[0]}`,
  );
}

/** Warns if a CMS without an `auth_endpoint` would log in another front end. */
function warnOfPath(
  { frontEnd, registration, preset }: CmsLogin,
  logins: readonly CmsLogin[],
  registrations: readonly RegistrationReading[],
): void {
  const backend = preset?.cms?.name;
  const inOrder = registrations.flatMap(({ name }) => {
    const first = logins.find((login) => login.registration.name === name);
    return first === undefined ? [] : [{ name, backend: first.preset?.cms?.name, first }];
  });
  const served = registrationOfCms(inOrder, backend);
  if (backend === undefined || served === undefined || served.first.frontEnd === frontEnd) return;
  frontEnd.warn(
    'tokenDelivery',
    `is cms, but /auth serves the front end ${served.first.frontEnd.name} at ${served.name}: set auth_endpoint to auth/${registration.name}/${frontEnd.name} in its config.yml`,
  );
}

/** The preset of a registration. A default does not count if the registration has URLs of its own. */
function cmsPresetOf({ values: { authorizeUrl, provider }, sourceOf }: Reading) {
  if (authorizeUrl !== undefined && sourceOf('provider') === undefined) return undefined;
  return cmsPresets.find(({ name }) => name === provider);
}

function reachesRepositories(
  { name, repositoryScopes }: CmsBackend,
  clientId: string | undefined,
  scope: string | undefined,
): boolean {
  if (name === 'github' && clientId !== undefined && gitHubApp.test(clientId)) return true;
  return scope?.split(' ').some((word) => repositoryScopes.includes(word)) ?? false;
}
