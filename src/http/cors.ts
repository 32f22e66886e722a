import { METHODS } from 'node:http';
import koaCors from '@koa/cors';
import type { Middleware } from 'koa';

const dayInSeconds = 86_400;
const requestedHeaders = 'access-control-request-headers';
/** Names of header fields with commas between them. @see RFC 9110 §5.6.2 */
const fieldNames = /^[\w!#$%&'*+.^`|~, \t-]*$/;

const exposedHeaders = ['Retry-After', 'WWW-Authenticate', 'X-Request-Id'];

/** Lets exactly one origin read the answers, with credentials, every method and every header. */
export function cors(origin: string): Middleware {
  const allow = koaCors({
    origin: (ctx) => (ctx.get('Origin') === origin ? origin : ''),
    credentials: true,
    // With credentials the wildcard means the literal "*", so the methods are named.
    allowMethods: METHODS,
    exposeHeaders: exposedHeaders,
    maxAge: dayInSeconds,
    // Headers outlive an error here, since the error responder keeps what is already set.
    keepHeadersOnError: false,
  });
  const readable = {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Credentials': 'true',
    'Access-Control-Expose-Headers': exposedHeaders.join(','),
  };
  return (ctx, next) => {
    // What is asked for is sent back: it is names, or it was not asked for.
    const requested = ctx.req.headers[requestedHeaders];
    if (requested !== undefined && !fieldNames.test(`${requested}`)) {
      delete ctx.req.headers[requestedHeaders];
    }
    // The library takes every OPTIONS for a preflight.
    const asksFirst = ctx.req.headers['access-control-request-method'] !== undefined;
    if (ctx.method === 'OPTIONS' && !asksFirst && ctx.get('Origin') === origin) ctx.set(readable);
    return allow(ctx, next);
  };
}
