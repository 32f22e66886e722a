import { METHODS } from 'node:http';
import type { Context } from './context.ts';
import { callersBehind } from './subscriber.ts';

/** A request that somebody sends to a resource. */
export interface AskedRequest {
  readonly method: string;
  /** Path and query, to the letter. */
  readonly target: string;
}

/** Finds the request that a reverse proxy asks about. */
export type FindAsked = (ctx: Context) => AskedRequest | undefined;

/**
 * Reads the request that a reverse proxy asks about from `X-Forwarded-Method` and `X-Forwarded-Uri`. Only trusted
 * proxies count: otherwise a page at a sibling host could declare its POST to be a GET.
 *
 * @returns undefined if a header is missing, repeated, or does not come from a trusted proxy
 */
export function createForwarded(trustedProxies: readonly string[]): FindAsked {
  const { isOfProxy } = callersBehind(trustedProxies);
  return ({ req }) => {
    const method = onlyValue(req.headersDistinct['x-forwarded-method']);
    const target = onlyValue(req.headersDistinct['x-forwarded-uri']);
    if (!isOfProxy(req) || method === undefined || target === undefined) return undefined;
    return METHODS.includes(method) && target.startsWith('/') ? { method, target } : undefined;
  };
}

/** A proxy that appends its header instead of replacing the client's sends two. */
const onlyValue = ([value, ...others]: readonly string[] = []) => (others.length > 0 ? undefined : value);
