/** How Decap CMS and Sveltia CMS use a provider. @see https://decapcms.org/docs/backends-overview/ */
export interface CmsBackend {
  /** The `backend.name` in the CMS's configuration, which the messages of a login contain. */
  readonly name: 'github' | 'gitlab' | 'bitbucket';
  /** The scopes that give access to repositories. One of them is enough. */
  readonly repositoryScopes: readonly string[];
  /** The API that the CMS uses unless its configuration has another one. */
  readonly apiRoot: string;
}

/**
 * Finds the registration for a start at `/auth`: a registration whose backend the CMS names. If there are several, it
 * is the one with the backend's name, or else the first. If the CMS names no known backend, it is the first
 * registration.
 *
 * @param registrations all registrations with a CMS, in order, with their `backend.name`. A registration has none only
 *   in a faulty configuration
 * @param backend the parameter `provider`
 */
export function findCmsRegistration<
  Registration extends { readonly name: string; readonly backend: string | undefined },
>(registrations: readonly Registration[], backend: unknown): Registration | undefined {
  const withBackend = registrations.filter((registration) => registration.backend === backend);
  const withSameName = withBackend.find(({ name }) => name === backend);
  return withSameName ?? withBackend[0] ?? registrations[0];
}
