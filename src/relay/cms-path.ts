import type { ServedRegistration } from './served-registrations.ts';

/** The path where a CMS starts logins unless its configuration has an `auth_endpoint`. */
export const cmsPath = '/auth';

/**
 * The registration of a start by a CMS: the first one whose backend it names; among several, the one that has
 * that name itself. If it names none, or an unknown one, it is the first one.
 *
 * @param entries the registrations with a CMS
 * @param backend the parameter `provider`
 */
export function registrationOfCms<Entry extends { readonly served: ServedRegistration }>(
  entries: readonly Entry[],
  backend: unknown,
): Entry | undefined {
  const asked = entries.filter(({ served }) => served.frontEnds.firstCms?.cmsBackend === backend);
  const sameName = asked.find(({ served }) => served.registration.name === backend);
  return sameName ?? asked[0] ?? entries[0];
}
