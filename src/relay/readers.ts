import type { Config } from '../config/config.ts';
import type { Readers } from '../http/cors.ts';
import { matchesAny } from '../origins/origin-pattern.ts';
import { originsOf } from '../origins/redirect-uri.ts';

/** No page reads the response. */
export const noPages: Readers = { hasOrigin: () => false };

/** The pages of every front end read the response, with credentials. */
export function pagesOfFrontEnds({ frontEnds }: Pick<Config, 'frontEnds'>): Readers {
  return { hasOrigin: matchesAny(frontEnds.flatMap(originsOf)) };
}
