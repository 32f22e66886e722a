/** A registration that a CMS may use. */
interface CmsRegistration {
  readonly name: string;
  /** The name of the backend in the configuration of the CMS. */
  readonly backend: string | undefined;
}

/**
 * The registration of a start at `/auth`: the first one whose backend the CMS names; among several, the
 * one that has that name itself. If the CMS names none, or an unknown one, it is the first one.
 *
 * @param registrations those with a CMS, in order
 * @param backend the parameter `provider`
 */
export function registrationOfCms<Registration extends CmsRegistration>(
  registrations: readonly Registration[],
  backend: unknown,
): Registration | undefined {
  const asked = registrations.filter((registration) => registration.backend === backend);
  const sameName = asked.find(({ name }) => name === backend);
  return sameName ?? asked[0] ?? registrations[0];
}
