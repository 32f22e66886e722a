import type { Config } from '../config/config.ts';
import type { Context } from '../http/context.ts';
import type { Readers } from '../http/cors.ts';
import { matchesAny } from '../origins/origin-pattern.ts';
import { originsOf } from '../origins/redirect-uri.ts';

export const noPages: Readers = { hasOrigin: () => false };

/** Pages of every front end may read the response, with credentials. */
export function pagesOfFrontEnds({ frontEnds }: Pick<Config, 'frontEnds'>): Readers {
  return { hasOrigin: matchesAny(frontEnds.flatMap(originsOf)) };
}

/**
 * Addresses at which OAuth clients look for metadata. Most addresses that they guess do not exist. A page that cannot
 * read the 404 takes it for a broken network, and does not try the next address.
 */
export const isGuessOfMetadata = ({ path }: Context) =>
  /\/\.well-known\/(oauth-[^/]+|openid-configuration)(\/|$)/.test(path);
