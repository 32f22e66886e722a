import { METHODS } from 'node:http';
import koaCors from '@koa/cors';
import type { Middleware } from 'koa';

const dayInSeconds = 86_400;

/** Lets exactly one origin read the answers, with credentials, every method and every header. */
export function cors(origin: string): Middleware {
  return koaCors({
    origin: (ctx) => (ctx.get('Origin') === origin ? origin : ''),
    credentials: true,
    // With credentials the wildcard means the literal "*", so the methods are named.
    allowMethods: METHODS,
    exposeHeaders: ['Retry-After', 'WWW-Authenticate', 'X-Request-Id'],
    maxAge: dayInSeconds,
    // Headers outlive an error here, since the error responder keeps what is already set.
    keepHeadersOnError: false,
  });
}
