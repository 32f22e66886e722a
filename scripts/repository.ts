import { posix } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { version } from '../src/version.ts';

/** The address of the repository: `repository` of package.json, such as `https://git.example.com/ada/login-relay`. */
export const repository = 'repository' in manifest ? `${manifest.repository}` : undefined;

/**
 * A page for readers without a clone. Its links to files that they do not have lead to the repository. If the address
 * of the repository is unknown, only the text of such links stays.
 *
 * @param page its path in the repository
 * @param isThere whether the file of this path in the repository comes with the page
 */
export function pageWithout(
  page: string,
  text: string,
  isThere: (path: string) => boolean,
  address = repository,
): string {
  return text.replaceAll(
    /\[([^\]]*)\]\((?![a-z]+:)([^)#\s]+)(#[^)]*)?\)/g,
    (link: string, label: string, target: string, anchor = '') => {
      const path = posix.join(posix.dirname(page), target);
      if (isThere(path)) return link;
      return address ? `[${label}](${address}/blob/v${version}/${path}${anchor})` : label;
    },
  );
}
