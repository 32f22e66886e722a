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
 * The registration of a start at `/auth`: the one whose backend the CMS names. Of several, the one with the backend's
 * name, or else the first. If the CMS names no known backend, the first registration.
 *
 * @param registrations those with a CMS, in order, and its `backend.name`
 * @param backend the parameter `provider`
 */
export function registrationOfCms<Registration extends { readonly name: string; readonly backend: string | undefined }>(
  registrations: readonly Registration[],
  backend: unknown,
): Registration | undefined {
  const asked = registrations.filter((registration) => registration.backend === backend);
  const sameName = asked.find(({ name }) => name === backend);
  return sameName ?? asked[0] ?? registrations[0];
}
