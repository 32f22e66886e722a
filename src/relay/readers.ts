import type { Config } from '../config/config.ts';
import type { Context } from '../http/context.ts';
import type { Readers } from '../http/cors.ts';
import { matchesAny } from '../origins/origin-pattern.ts';
import { originsOf } from '../origins/redirect-uri.ts';

/** No page reads the response. */
export const noPages: Readers = { hasOrigin: () => false };

/** The pages of every front end read the response, with credentials. */
export function pagesOfFrontEnds({ frontEnds }: Pick<Config, 'frontEnds'>): Readers {
  return { hasOrigin: matchesAny(frontEnds.flatMap(originsOf)) };
}

/**
 * Addresses at which OAuth clients look for metadata. Most of the addresses that they guess do not exist: a page that cannot
 * read the 404 takes it for a broken network, and does not try the next address.
 */
export const isGuessOfMetadata = ({ path }: Context) =>
  /\/\.well-known\/(oauth-[^/]+|openid-configuration)(\/|$)/.test(path);
