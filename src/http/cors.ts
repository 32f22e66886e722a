import { METHODS } from 'node:http';
import koaCors from '@koa/cors';
import type { Context, Handler } from './context.ts';

const dayInSeconds = 86_400;
/** Field names, separated by commas. @see RFC 9110 §5.6.2 */
const fieldNames = /^[\w!#$%&'*+.^`|~, \t-]*$/;

// Pages correct a wrong clock with `Date`: their DPoP proofs have to be of this minute.
const exposedHeaders = ['Date', 'DPoP-Nonce', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'];

/** What passes the gateway. CONNECT never reaches a route, and TRACE shows a request to whoever reads its answer. */
export const passedMethods = METHODS.filter((name) => name !== 'CONNECT' && name !== 'TRACE');

const allowOrigin = 'Access-Control-Allow-Origin';
const allowHeaders = 'Access-Control-Allow-Headers';
const allowCredentials = 'Access-Control-Allow-Credentials';

/** Whether a browser asks if a page may make a request. */
const isPreflight = ({ method, req }: Context) =>
  method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined;

/** Takes back that the origin of this request may read the response. */
export function forbidReading(ctx: Context): void {
  ctx.remove(allowOrigin);
  ctx.remove(allowCredentials);
}

/** Lets every page read a response that is the same for all, without credentials, also from a cache. */
export function makePublic(ctx: Context): void {
  ctx.set(allowOrigin, '*');
  ctx.remove(allowCredentials);
  ctx.remove('Vary');
}

/** The pages that may read a response. */
export interface Readers {
  /** Whether pages of this origin may read it, with credentials. */
  readonly hasOrigin: (origin: string) => boolean;
  /** Whether the pages of all other origins may read it too, without credentials (default: no). */
  readonly all?: boolean | ((ctx: Context) => boolean);
}

/** Allows origins to read responses, each for itself, with any method and any header. */
export function cors({ hasOrigin, all = false }: Readers): Handler {
  const credentials = (ctx: Context) => hasOrigin(ctx.get('Origin'));
  const mayAllRead = typeof all === 'boolean' ? () => all : all;
  /** The origin that may read, as the library takes it: empty if none may. */
  const allowed = (ctx: Context): string => (credentials(ctx) || mayAllRead(ctx) ? ctx.get('Origin') : '');
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
    // The library sets nothing if an OPTIONS request is no preflight.
    if (ctx.method === 'OPTIONS' && !isPreflight(ctx) && allowed(ctx) !== '') {
      ctx.set(allowOrigin, ctx.get('Origin'));
      if (credentials(ctx)) ctx.set(allowCredentials, 'true');
      ctx.set('Access-Control-Expose-Headers', exposedHeaders.join(','));
    }
    await allow(ctx, next);
    // The library echoes what a preflight asks for, whatever it is.
    if (!fieldNames.test(ctx.response.get(allowHeaders))) ctx.remove(allowHeaders);
  };
}

/**
 * Lets every page read the responses, and answers preflights. That gives nothing away: only a token opens what is here,
 * and a browser adds none by itself.
 */
export const gatewayCors: Handler = async (ctx, next) => {
  ctx.set(allowOrigin, '*');
  if (!isPreflight(ctx)) {
    ctx.set('Access-Control-Expose-Headers', [...exposedHeaders, 'Mcp-Session-Id'].join(','));
    return next();
  }
  const asked = ctx.get('Access-Control-Request-Headers');
  ctx.set('Access-Control-Allow-Methods', passedMethods.join(','));
  // A `*` would not let `Authorization` pass.
  if (asked !== '' && fieldNames.test(asked)) ctx.set(allowHeaders, asked);
  ctx.set('Access-Control-Max-Age', `${dayInSeconds}`);
  ctx.status = 204;
};
