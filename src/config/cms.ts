import { presets } from '../providers/presets.ts';
import type { CmsBackend } from '../providers/provider.ts';
import type { FrontEndEntry, RegistrationEntry } from './across-entries.ts';
import type { OptionValues } from './options.ts';

const cmsPresets = presets.filter(({ cms }) => cms !== undefined);
const cmsPresetNames = cmsPresets.map(({ name }) => name).join(', ');

/** Client identifiers of GitHub Apps. Such an app has permissions of its own, and ignores scopes. */
const gitHubApp = /^Iv/;

/** Reports what keeps the front ends that are CMSes from logging in, or from their repositories. */
export function reportCmses(
  registrations: readonly RegistrationEntry[],
  frontEnds: readonly FrontEndEntry[],
): void {
  const first = new Map<CmsBackend['name'], string>();
  for (const { one, access } of frontEnds) {
    if (one.reading.values.tokenDelivery !== 'cms') continue;
    const { fault, warn } = one.reading;
    const used = registrations.filter(({ name }) => access.registrations.includes(name));
    for (const { name: registration, reading } of used) {
      const preset = cmsPresetOf(reading.values);
      if (preset?.cms === undefined) {
        const which =
          one.entry === undefined ? '' : `, which ${registration} is not: set providers`;
        fault('tokenDelivery', `works with the provider presets ${cmsPresetNames} only${which}`);
        continue;
      }
      const { clientId, scope = preset.scope } = reading.values;
      if (!reachesRepositories(preset.cms, clientId, access.scope ?? scope)) {
        warn(
          'tokenDelivery',
          `is cms, but the scope at ${registration} gives no access to repositories: add ${preset.cms.repositoryScopes[0]}`,
        );
      }
      const { name = '' } = one.entry ?? {};
      const served = first.get(preset.cms.name);
      if (served === undefined) first.set(preset.cms.name, `${name} at ${registration}`);
      else {
        warn(
          'tokenDelivery',
          `is cms, but /auth serves the front end ${served}: set auth_endpoint to auth/${registration}/${name} in its config.yml`,
        );
      }
    }
  }
}

function cmsPresetOf({ issuer, provider }: OptionValues) {
  return issuer === undefined ? cmsPresets.find(({ name }) => name === provider) : undefined;
}

function reachesRepositories(
  { name, repositoryScopes }: CmsBackend,
  clientId: string | undefined,
  scope: string | undefined,
): boolean {
  if (name === 'github' && clientId !== undefined && gitHubApp.test(clientId)) return true;
  return scope?.split(' ').some((word) => repositoryScopes.includes(word)) ?? false;
}
