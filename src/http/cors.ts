import { METHODS } from 'node:http';
import koaCors from '@koa/cors';
import type { Middleware } from 'koa';
import { type OriginPattern, originLookup } from '../origins/origin-pattern.ts';

const dayInSeconds = 86_400;
const requestedHeaders = 'access-control-request-headers';
/** Field names, separated by commas. @see RFC 9110 §5.6.2 */
const fieldNames = /^[\w!#$%&'*+.^`|~, \t-]*$/;

const exposedHeaders = ['Retry-After', 'WWW-Authenticate', 'X-Request-Id'];

/** Allows each of these origins to read responses, with credentials, any method and any header. */
export function cors(origins: Iterable<OriginPattern>): Middleware {
  const allowedOrigin = originLookup(origins);
  const allow = koaCors({
    origin: (ctx) => allowedOrigin(ctx.get('Origin')) ?? '',
    credentials: true,
    // With credentials, "*" is not a wildcard. So name the methods.
    allowMethods: METHODS,
    exposeHeaders: exposedHeaders,
    maxAge: dayInSeconds,
    // Not needed: the error responder keeps headers that are set.
    keepHeadersOnError: false,
  });
  return (ctx, next) => {
    // The library echoes this header. Drop it unless it is a list of field names.
    const requested = ctx.req.headers[requestedHeaders];
    if (requested !== undefined && !fieldNames.test(`${requested}`)) {
      delete ctx.req.headers[requestedHeaders];
    }
    // The library treats every OPTIONS request as a preflight.
    const asksFirst = ctx.req.headers['access-control-request-method'] !== undefined;
    if (ctx.method === 'OPTIONS' && !asksFirst) {
      const origin = allowedOrigin(ctx.get('Origin'));
      if (origin !== undefined) ctx.set(readableBy(origin));
    }
    return allow(ctx, next);
  };
}

function readableBy(origin: string) {
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Credentials': 'true',
    'Access-Control-Expose-Headers': exposedHeaders.join(','),
  };
}
