import type { Readings } from '../readings.ts';

/** Checks the fields that front ends get besides tokens. Front ends of a resource, and CMSes, never get them. */
export function checkExtraFields({ registrations, frontEnds }: Readings): void {
  for (const { name, values, reportFault, describe, warnOfUnused } of registrations) {
    const repeated = values.callbackFields?.find((field) => values.tokenFields?.includes(field));
    if (repeated) reportFault('callbackFields', `has ${repeated}, which is in ${describe('tokenFields')}, too`);
    const ownFrontEnds = frontEnds.filter((frontEnd) => frontEnd.registrations.includes(name));
    const isAnyGivenFields = ownFrontEnds.some(
      (frontEnd) => frontEnd.values.tokenDelivery !== 'cms' && frontEnd.values.resources === undefined,
    );
    if (isAnyGivenFields) continue;
    const why = ': of this provider, front ends get the token of a resource, or are a CMS';
    warnOfUnused(['tokenFields', 'callbackFields'], why);
  }
}
