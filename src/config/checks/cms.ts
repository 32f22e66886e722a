import { findCmsRegistration } from '../../providers/cms.ts';
import { presets } from '../../providers/presets.ts';
import { findPreset } from '../assemble-provider.ts';
import type { FrontEndReading, Readings, RegistrationReading } from '../readings.ts';

/** The presets that CMSes support, as providers with their names. */
const cmsPresets = presets.flatMap(({ name, provider: { cms, ...provider } }) =>
  cms ? [{ ...provider, name, cms }] : [],
);
const cmsPresetNames = cmsPresets.map(({ name }) => name).join(', ');

/** Reports what keeps CMSes from logging in, or from their repositories. */
export function checkCmses({ registrations, frontEnds }: Readings): void {
  const cmses = frontEnds.filter(({ values }) => values.tokenDelivery === 'cms');
  // The fixed path /auth can serve only the first CMS of a registration.
  const served = registrations.flatMap((registration) => {
    const { name } = registration;
    const frontEnd = cmses.find((cms) => cms.registrations.includes(name));
    const backend = cmsPresetOf(registration)?.cms.name;
    return frontEnd === undefined ? [] : [{ name, backend, frontEnd }];
  });
  for (const frontEnd of cmses) {
    for (const registration of frontEnd.usableRegistrations) checkRepositoryAccess(frontEnd, registration);
    for (const registration of frontEnd.usableRegistrations) {
      const backend = cmsPresetOf(registration)?.cms.name;
      const first = backend && findCmsRegistration(served, backend);
      if (!first || first.frontEnd === frontEnd) continue;
      // Without an auth_endpoint, this CMS would start the login of the other front end.
      frontEnd.warn(
        'tokenDelivery',
        `is cms, but /auth serves the front end ${first.frontEnd.name} at ${first.name}: set auth_endpoint to auth/${registration.name}/${frontEnd.name} in its config.yml`,
      );
    }
  }
}

/** Reports a provider that CMSes do not support, and warns about a scope without access to repositories. */
function checkRepositoryAccess(frontEnd: FrontEndReading, registration: RegistrationReading): void {
  const { map, values, reportFault, warn } = frontEnd;
  const preset = cmsPresetOf(registration);
  if (preset === undefined) {
    const which = `. ${registration.name} uses none of them: set its provider, or leave it out of providers`;
    reportFault(
      'tokenDelivery',
      `works with the provider presets ${cmsPresetNames} only${map.path === undefined ? '' : which}`,
    );
    return;
  }
  const { repositoryScopes } = preset.cms;
  const { clientId = '', scope = preset.scope } = registration.values;
  const words = (values.scope ?? scope)?.split(' ') ?? [];
  // A GitHub App has permissions instead of scopes.
  const isApp = preset.appIdPrefix && clientId.startsWith(preset.appIdPrefix);
  if (isApp || words.some((word) => repositoryScopes.includes(word))) return;
  warn(
    'tokenDelivery',
    `is cms, but the scope at ${registration.name} gives no access to repositories: add ${repositoryScopes[0]}`,
  );
}

/** The preset of a registration, if CMSes support it. The default preset does not count if the login is elsewhere. */
function cmsPresetOf({ values, isGiven }: RegistrationReading) {
  const isPresetNamed = isGiven('provider') || isGiven('issuer');
  if (values.authorizeUrl !== undefined && !isPresetNamed) return undefined;
  const name = findPreset(values)?.name;
  return cmsPresets.find((preset) => preset.name === name);
}
