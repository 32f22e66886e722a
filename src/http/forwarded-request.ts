import { METHODS } from 'node:http';
import { createClientAddresses } from './client-address.ts';
import type { Context } from './context.ts';

/** A request to a resource, about which a reverse proxy asks the relay. */
export interface AskedRequest {
  readonly method: string;
  /** Path and query, to the letter. */
  readonly target: string;
}

/** Finds the request that a reverse proxy asks about. Undefined if the proxy does not describe it. */
export type FindAsked = (ctx: Context) => AskedRequest | undefined;

/**
 * Creates a function that reads the request from `X-Forwarded-Method` and `X-Forwarded-Uri`. The headers must come from
 * a trusted proxy, and only once. Otherwise, a page at a sibling host could declare its POST to be a GET.
 */
export function createForwardedReader(trustedProxies: readonly string[]): FindAsked {
  const { isFromProxy } = createClientAddresses(trustedProxies);
  return ({ req }) => {
    const method = onlyValue(req.headersDistinct['x-forwarded-method']);
    const target = onlyValue(req.headersDistinct['x-forwarded-uri']);
    if (!isFromProxy(req) || method === undefined || target === undefined) return undefined;
    return METHODS.includes(method) && target.startsWith('/') ? { method, target } : undefined;
  };
}

/**
 * The value of a header that the proxy sets. It is undefined if the header comes twice, because the proxy may have kept
 * the client's header and added its own.
 */
const onlyValue = ([value, ...others]: readonly string[] = []) => (others.length > 0 ? undefined : value);
