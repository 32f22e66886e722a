import { RelayError } from '../errors.ts';
import type { FrontEnd, FrontEnds } from '../login/front-end.ts';
import type { Query } from '../oauth/query.ts';

/**
 * The front end that the path of a start names: `/auth/<registration>/<front end>`.
 *
 * @returns undefined if it names none
 */
export function frontEndInPath(path: string): string | undefined {
  return /^\/auth\/[^/]+\/([^/]+)$/.exec(path)?.[1];
}

/**
 * The front end of an OAuth request: its `client_id`, the front end in the path, or the only one that takes
 * OAuth requests.
 *
 * @param inPath the front end that the path names
 * @throws {RelayError} `client_unknown`
 * @see RFC 6749 §4.1.1
 */
export function frontEndOfOAuthStart(
  frontEnds: FrontEnds,
  query: Query,
  inPath: string | undefined,
): FrontEnd {
  const isNamed = inPath !== undefined || query['client_id'] !== undefined;
  return expectFound(isNamed ? findNamed(frontEnds, query, inPath) : frontEnds.byDefaultForOAuth);
}

/**
 * The front end of any other start: the one in the path, the one that `client_id` names, the first CMS if
 * a CMS asks, or the default.
 *
 * @param inPath the front end that the path names
 * @throws {RelayError} `client_unknown`
 */
export function frontEndOfPlainStart(
  frontEnds: FrontEnds,
  query: Query,
  inPath: string | undefined,
): FrontEnd {
  return expectFound(findForPlainStart(frontEnds, query, inPath));
}

/** The same; undefined if the start names no front end of these. */
export function findForPlainStart(
  frontEnds: FrontEnds,
  query: Query,
  inPath: string | undefined,
): FrontEnd | undefined {
  // The contract's start ignores parameters that it does not know, and there is nothing to choose.
  if (frontEnds.isOnlyOne) return frontEnds.byDefault;
  const isNamed = inPath !== undefined || query['client_id'] !== undefined;
  if (isNamed) return findNamed(frontEnds, query, inPath);
  const isOfCms = query['site_id'] !== undefined;
  return (isOfCms ? frontEnds.firstCms : undefined) ?? frontEnds.byDefault;
}

/** Only the first CMS of these front ends, for an address that is for CMSes alone. */
export function onlyFirstCms(frontEnds: FrontEnds, firstCms: FrontEnd): FrontEnds {
  return {
    ...frontEnds,
    find: (name) => (name === firstCms.name ? firstCms : undefined),
    byDefault: firstCms,
    byDefaultForOAuth: undefined,
    isOnlyOne: true,
  };
}

function findNamed(
  frontEnds: FrontEnds,
  query: Query,
  inPath: string | undefined,
): FrontEnd | undefined {
  const named = query['client_id'] ?? inPath;
  const isOther = inPath !== undefined && named !== inPath;
  return typeof named === 'string' && !isOther ? frontEnds.find(named) : undefined;
}

function expectFound(frontEnd: FrontEnd | undefined): FrontEnd {
  if (frontEnd === undefined) throw new RelayError('client_unknown');
  return frontEnd;
}
