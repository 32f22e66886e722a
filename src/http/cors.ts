import { METHODS } from 'node:http';
import koaCors from '@koa/cors';
import type { Context, Handler } from './context.ts';

const dayInSeconds = 86_400;
/** Field names, separated by commas. @see RFC 9110 §5.6.2 */
const fieldNames = /^[\w!#$%&'*+.^`|~, \t-]*$/;

// Pages correct a wrong clock with `Date`: their DPoP proofs have to be of this minute.
const exposedHeaders = ['Date', 'DPoP-Nonce', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'];

const allowOrigin = 'Access-Control-Allow-Origin';
const allowHeaders = 'Access-Control-Allow-Headers';
const allowCredentials = 'Access-Control-Allow-Credentials';

/** Takes back that the origin of this request may read the response. */
export function forbidReading(ctx: Context): void {
  ctx.remove(allowOrigin);
  ctx.remove(allowCredentials);
}

/**
 * Allows origins to read responses, each for itself, with credentials, any method and any header.
 *
 * @param mayRead whether an origin may read the response to this request
 * @param mayAllRead whether all others may read the response to this request, too, but without credentials
 */
export function cors(
  mayRead: (ctx: Context, origin: string) => boolean,
  mayAllRead: (ctx: Context) => boolean = () => false,
): Handler {
  const credentials = (ctx: Context) => mayRead(ctx, ctx.get('Origin'));
  const allowed = (ctx: Context): string =>
    credentials(ctx) || mayAllRead(ctx) ? ctx.get('Origin') : '';
  const allow = koaCors({
    origin: allowed,
    credentials,
    // With credentials, "*" is not a wildcard. So name the methods.
    allowMethods: METHODS,
    exposeHeaders: exposedHeaders,
    maxAge: dayInSeconds,
    // Not needed: the error responder keeps headers that are set.
    keepHeadersOnError: false,
  });
  return async (ctx, next) => {
    // The library treats every OPTIONS request as a preflight.
    const asksFirst = ctx.req.headers['access-control-request-method'] !== undefined;
    if (ctx.method === 'OPTIONS' && !asksFirst && allowed(ctx) !== '') {
      ctx.set(allowOrigin, ctx.get('Origin'));
      if (credentials(ctx)) ctx.set(allowCredentials, 'true');
      ctx.set('Access-Control-Expose-Headers', exposedHeaders.join(','));
    }
    await allow(ctx, next);
    // The library echoes what a preflight asks for, whatever it is.
    if (!fieldNames.test(ctx.response.get(allowHeaders))) ctx.remove(allowHeaders);
  };
}
