import type { Readings } from '../readings.ts';

/** Checks extra fields, which only token answers and sessions contain. */
export function checkExtraFields({ registrations, frontEnds }: Readings): void {
  for (const { name, values, reportFault, describe, warnOfUnused } of registrations) {
    const doubled = values.callbackFields?.find((one) => values.tokenFields?.includes(one));
    if (doubled) reportFault('callbackFields', `has ${doubled}, which is in ${describe('tokenFields')}, too`);
    const getsFields = frontEnds.some(
      (one) =>
        one.registrations.includes(name) && one.values.tokenDelivery !== 'cms' && one.values.resources === undefined,
    );
    if (getsFields) continue;
    const why = ': of this provider, front ends get the token of a resource, or are a CMS';
    warnOfUnused(['tokenFields', 'callbackFields'], why);
  }
}
