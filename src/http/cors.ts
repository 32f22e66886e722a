import { METHODS } from 'node:http';
import koaCors from '@koa/cors';
import type { Context, Handler } from './context.ts';

const dayInSeconds = 86_400;
/** Field names, separated by commas. @see RFC 9110 §5.6.2 */
const fieldNames = /^[\w!#$%&'*+.^`|~, \t-]*$/;

// Pages need `Date` to correct a wrong clock, because a DPoP proof must be at most a minute old.
const exposedHeaders = ['Date', 'DPoP-Nonce', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'];

/**
 * The methods that the gateway passes on. TRACE is excluded because its response repeats the request's headers. CONNECT
 * never reaches a route.
 */
export const passedMethods = METHODS.filter((name) => name !== 'CONNECT' && name !== 'TRACE');

const allowOrigin = 'Access-Control-Allow-Origin';
const allowHeaders = 'Access-Control-Allow-Headers';
const allowCredentials = 'Access-Control-Allow-Credentials';

/** Whether a browser asks if a page may send a request. */
const isPreflight = ({ method, req }: Context) =>
  method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined;

/** Withdraws the permission to read the response from the page that sent the request. */
export function forbidReading(ctx: Context): void {
  ctx.remove(allowOrigin);
  ctx.remove(allowCredentials);
}

/**
 * Lets every page read a response that caches may keep. The response must be the same for all pages. Its headers are
 * the same as well, because browsers would refuse a cached answer that names the origin of its first reader.
 */
export function makePublic(ctx: Context): void {
  for (const header of ctx.res.getHeaderNames()) {
    if (header.startsWith('access-control-')) ctx.remove(header);
  }
  ctx.remove('Vary');
  ctx.set(allowOrigin, '*');
}

/** Which pages may read a response. */
export interface Readers {
  /** Whether pages of this origin may read it, with credentials. */
  readonly hasOrigin: (origin: string) => boolean;
  /** Whether pages of all other origins may read it, without credentials (default: no). */
  readonly all?: boolean | ((ctx: Context) => boolean);
}

/** Lets pages read the responses of an endpoint, and answers their preflights. */
export function cors({ hasOrigin, all = false }: Readers): Handler {
  const mayReadWithCredentials = (ctx: Context) => hasOrigin(ctx.get('Origin'));
  const mayAllRead = typeof all === 'boolean' ? () => all : all;
  /** The `Origin` of the request if its page may read the response, or an empty text, as the library expects. */
  const originIfAllowed = (ctx: Context): string =>
    mayReadWithCredentials(ctx) || mayAllRead(ctx) ? ctx.get('Origin') : '';
  const libraryCors = koaCors({
    origin: originIfAllowed,
    credentials: mayReadWithCredentials,
    // With credentials, browsers take "*" for a method's name, so list the methods.
    allowMethods: METHODS,
    exposeHeaders: exposedHeaders,
    maxAge: dayInSeconds,
    // The error responder already keeps the headers that are set.
    keepHeadersOnError: false,
  });
  return async (ctx, next) => {
    // The library sets no headers for an OPTIONS request that is no preflight.
    if (ctx.method === 'OPTIONS' && !isPreflight(ctx) && originIfAllowed(ctx) !== '') {
      ctx.set(allowOrigin, ctx.get('Origin'));
      if (mayReadWithCredentials(ctx)) ctx.set(allowCredentials, 'true');
      ctx.set('Access-Control-Expose-Headers', exposedHeaders.join(','));
    }
    await libraryCors(ctx, next);
    // The library repeats the requested header names, even if they contain forbidden bytes.
    if (!fieldNames.test(ctx.response.get(allowHeaders))) ctx.remove(allowHeaders);
  };
}

/**
 * Lets pages of every origin read the responses, and answers preflights. This is safe because only a token opens these
 * endpoints, and a browser does not add one by itself.
 */
export const gatewayCors: Handler = async (ctx, next) => {
  ctx.set(allowOrigin, '*');
  if (!isPreflight(ctx)) {
    ctx.set('Access-Control-Expose-Headers', [...exposedHeaders, 'Mcp-Session-Id'].join(','));
    return next();
  }
  const requestedHeaders = ctx.get('Access-Control-Request-Headers');
  ctx.set('Access-Control-Allow-Methods', passedMethods.join(','));
  // Repeat the names, because `*` does not cover `Authorization`.
  if (requestedHeaders !== '' && fieldNames.test(requestedHeaders)) ctx.set(allowHeaders, requestedHeaders);
  ctx.set('Access-Control-Max-Age', `${dayInSeconds}`);
  ctx.status = 204;
};
