import { RelayError } from '../errors.ts';
import { type Context, claimedQuery } from '../http/context.ts';
import type { FrontEnd, FrontEnds } from '../login/front-end.ts';

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
 * @throws {RelayError} `client_unknown`
 * @see RFC 6749 §4.1.1
 */
export function frontEndOfOAuthStart(frontEnds: FrontEnds, ctx: Context): FrontEnd {
  const asked = named(frontEnds, ctx);
  return expectFound(asked ? asked.found : frontEnds.byDefaultForOAuth);
}

/**
 * The front end of any other start: the one in the path, the one that `client_id` names, the first CMS if
 * a CMS asks, or the default.
 *
 * @throws {RelayError} `client_unknown`
 */
export function frontEndOfPlainStart(frontEnds: FrontEnds, ctx: Context): FrontEnd {
  return expectFound(findForPlainStart(frontEnds, ctx));
}

/** The same; undefined if the start names no front end of these. */
export function findForPlainStart(frontEnds: FrontEnds, ctx: Context): FrontEnd | undefined {
  // The contract's start ignores parameters that it does not know, and there is nothing to choose.
  if (frontEnds.isOnlyOne) return frontEnds.byDefault;
  const asked = named(frontEnds, ctx);
  if (asked !== undefined) return asked.found;
  const isOfCms = claimedQuery(ctx)['site_id'] !== undefined;
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

/** The front end that a start names by its path or its `client_id`. @returns undefined if it names none */
function named(frontEnds: FrontEnds, ctx: Context) {
  const inPath = frontEndInPath(ctx.path);
  const { client_id: name = inPath } = claimedQuery(ctx);
  if (name === undefined) return undefined;
  const isOther = inPath !== undefined && name !== inPath;
  return { found: typeof name === 'string' && !isOther ? frontEnds.find(name) : undefined };
}

function expectFound(frontEnd: FrontEnd | undefined): FrontEnd {
  if (frontEnd === undefined) throw new RelayError('client_unknown');
  return frontEnd;
}
