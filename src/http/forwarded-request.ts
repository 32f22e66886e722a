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
 * Creates what finds the request that a reverse proxy asks about, in `X-Forwarded-Method` and `X-Forwarded-Uri`. They count
 * only from a trusted proxy: with other ones, a page of a sibling host could pass a POST for a GET.
 *
 * @returns gives undefined if a header is missing, comes twice, or does not come from a trusted proxy
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

/** A proxy that adds a header to that of a client in place of replacing it sends two. */
const onlyValue = ([value, ...others]: readonly string[] = []) => (others.length > 0 ? undefined : value);
