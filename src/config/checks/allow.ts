import { type Allow, answerTo, rulesOf } from '../../access/allow.ts';
import type { ProviderSettings } from '../provider.ts';
import type { Reading } from '../reading.ts';
import type { FrontEndReading, RegistrationReading } from '../readings.ts';
import type { SettingName } from '../settings/settings.ts';

const rows = {
  users: 'allowedUsers',
  organizations: 'allowedOrganizations',
  teams: 'allowedTeams',
  emails: 'allowedEmails',
  emailDomains: 'allowedEmailDomains',
  groups: 'allowedGroups',
} as const satisfies Record<ReturnType<typeof rulesOf>[number], SettingName>;

/** Who may log in; undefined: everybody. */
export function allowOf(reading: Reading | undefined): Allow | undefined {
  if (reading === undefined) return undefined;
  const { values } = reading;
  const rules = Object.entries(rows).flatMap(([rule, row]) =>
    values[row] === undefined ? [] : [[rule, values[row]]],
  );
  const { groupsClaim } = values;
  return { ...Object.fromEntries(rules), ...(groupsClaim && { groupsClaim }) };
}

/**
 * Reports rules that a provider cannot answer.
 *
 * @param providers in the order of the registrations; undefined: it has a fault
 */
export function checkAllow(
  registrations: readonly RegistrationReading[],
  providers: readonly (ProviderSettings | undefined)[],
  frontEnds: readonly FrontEndReading[],
): void {
  for (const [index, { name, allow }] of registrations.entries()) {
    reportClaim(allow);
    reportUnanswered(allow, name, providers[index]);
    for (const frontEnd of frontEnds) {
      if (frontEnd.registrations.includes(name)) {
        reportUnanswered(frontEnd.allow, name, providers[index]);
      }
    }
  }
  for (const { allow } of frontEnds) reportClaim(allow);
}

function reportClaim(allow: Reading | undefined): void {
  if (allow?.sourceOf('groupsClaim') === undefined || allow.sourceOf('allowedGroups')) return;
  allow.fault('groupsClaim', 'has no effect without groups');
}

function reportUnanswered(
  reading: Reading | undefined,
  registration: string,
  settings: ProviderSettings | undefined,
): void {
  if (reading === undefined || settings === undefined) return;
  const allow = allowOf(reading) ?? {};
  const access = 'known' in settings ? settings.known.access : undefined;
  for (const rule of rulesOf(allow)) {
    const answer = answerTo(rule, allow, access);
    if (typeof answer !== 'string') continue;
    reading.fault(rows[rule], `cannot be asked at the provider ${registration}: ${answer}`);
  }
}
