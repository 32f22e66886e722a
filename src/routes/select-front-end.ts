import { RelayError } from '../errors.ts';
import type { FrontEnd, FrontEnds } from '../login/login.ts';
import type { Query } from '../oauth/query.ts';

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
  const named = query['client_id'] ?? inPath ?? frontEnds.byDefaultForOAuth?.name;
  const isOther = inPath !== undefined && named !== inPath;
  const found = typeof named === 'string' ? frontEnds.find(named) : undefined;
  if (found === undefined || isOther) throw new RelayError('client_unknown');
  return found;
}

/**
 * The front end of any other start: the one in the path, the one that `client_id` names, or the default.
 *
 * @param inPath the front end that the path names
 * @throws {RelayError} `client_unknown`
 */
export function frontEndOfPlainStart(
  frontEnds: FrontEnds,
  query: Query,
  inPath: string | undefined,
): FrontEnd {
  // The contract's start ignores parameters that it does not know, and there is nothing to choose.
  if (frontEnds.isOnlyOne) return frontEnds.byDefault;
  const isNamed = inPath !== undefined || query['client_id'] !== undefined;
  return isNamed ? frontEndOfOAuthStart(frontEnds, query, inPath) : frontEnds.byDefault;
}
