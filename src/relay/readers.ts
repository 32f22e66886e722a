import type { Config } from '../config/config.ts';
import type { Context } from '../http/context.ts';
import type { Readers } from '../http/cors.ts';
import { createOriginMatcher } from '../origins/origin-pattern.ts';
import { pageOriginsOf } from '../origins/redirect-uri.ts';

/** No page may read the response. */
export const noPages: Readers = { hasOrigin: () => false };

/** Pages of every front end may read the response, with credentials. */
export function pagesOfFrontEnds({ frontEnds }: Pick<Config, 'frontEnds'>): Readers {
  return { hasOrigin: createOriginMatcher(frontEnds.flatMap(pageOriginsOf)) };
}

/**
 * Whether an OAuth client on a page may have guessed the address as one of metadata. Then every page may read a 404
 * there. A page that cannot read it takes it for a broken network, and does not try the next address.
 */
export const isGuessOfMetadata = ({ path }: Context) =>
  /\/\.well-known\/(oauth-[^/]+|openid-configuration)(\/|$)/.test(path);
