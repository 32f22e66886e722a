import { expectFewParameters, parseQuery, type Query } from '../oauth/query.ts';
import type { Context } from './context.ts';

/**
 * The parameters of a request.
 *
 * @throws {RelayError} `parameters_too_many`
 */
export function readQuery(ctx: Context): Query {
  expectFewParameters(ctx.querystring);
  return claimedQuery(ctx);
}

/** The first 100 parameters of a request, for the answer to one that may be refused. */
export function claimedQuery({ state, querystring }: Context): Query {
  state.query ??= parseQuery(querystring);
  return state.query;
}
