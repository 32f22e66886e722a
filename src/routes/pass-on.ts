import { proxiedUrl } from '../api-proxy/path.ts';
import { RelayError } from '../failures/relay-error.ts';
import { awaitBody, readBody } from '../http/body.ts';
import type { Context, Handler } from '../http/context.ts';
import { limits } from '../limits.ts';
import type { StreamedRequest, StreamedResponse } from '../upstream/messages.ts';

/** Where a path of the relay leads at another server. */
export interface Way {
  /** The path of the relay. */
  readonly path: string;
  /** What takes its place. It ends with a slash if the path does. */
  readonly url: URL;
}

/** A request that may pass, and what its response means. */
export interface Passage extends Pick<StreamedRequest, 'method' | 'url' | 'headers'> {
  call(request: Pick<StreamedRequest, 'method' | 'url' | 'headers' | 'body' | 'client'>): Promise<StreamedResponse>;
  /** Why a response with this status does not pass, if it does not. */
  refusalOf(status: number): RelayError | undefined;
  /** Those of the response's headers that pass. */
  passed(response: StreamedResponse['headers']): Readonly<Record<string, string>>;
}

/** A response of another server must never become a page of the relay's origin. */
const contentSecurityPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";

const proxyAuthenticationRequired = 407;

/** The URL that a request is passed to. @throws {RelayError} `path_refused` */
export function requireTarget(ctx: Context, { path, url }: Way): URL {
  // A URL in absolute form does not pass: `rewriteToOriginForm` has rewritten it.
  const isPath = ctx.originalUrl.startsWith('/');
  const target = isPath ? proxiedUrl(ctx.url, path, url) : undefined;
  if (target === undefined) throw new RelayError('path_refused');
  return target;
}

/** Passes a request to another server, and its response to the client: both bodies while they arrive. */
export async function passOn(ctx: Context, { method, url, headers, call, refusalOf, passed }: Passage): Promise<void> {
  const response = await call({ method, url, headers, body: await readUpload(ctx), client: ctx.res });
  const refusal = refusalOf(response.status);
  if (refusal === undefined) return answer(ctx, response, passed(response.headers));
  // At its end the call is known, and its connection can be used again.
  await response.skip();
  throw refusal;
}

/** Statuses that would mean something else to the client here, or nothing. @see RFC 9110 §15 */
export function isUnusable(status: number): boolean {
  return status === proxyAuthenticationRequired || status < 200 || status > 599;
}

/** @returns undefined if the request has no body */
async function readUpload(ctx: Context): Promise<StreamedRequest['body']> {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return undefined;
  const { 'content-length': given, 'transfer-encoding': coding } = ctx.req.headers;
  // Other codings are gone after this hop, but the server would not know. @see RFC 9112 §6.1
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new RelayError('bad_request');
  }
  const length = given === undefined ? undefined : Number(given);
  if (coding === undefined && !length) return undefined;
  if (length !== undefined && length > limits.apiRequestSize) {
    throw new RelayError('upload_too_large');
  }
  // A small body that never comes must not hold a call.
  if (length !== undefined && length <= limits.requestBodySize) {
    return await readBody(ctx);
  }
  awaitBody(ctx);
  return { content: ctx.req, length };
}

/** What sends the body of an answer, once all middleware has set its headers. */
const bodies = new WeakMap<Context, () => void>();

/** Sends the bodies of answers that pass. Koa would need a stream between the two connections. */
export const sendPassedBodies: Handler = async (ctx, next) => {
  await next();
  const send = bodies.get(ctx);
  if (send === undefined) return;
  ctx.respond = false;
  send();
  // The head does not wait for the first byte of the body, unless that has already come.
  setImmediate(() => {
    if (!ctx.res.headersSent && !ctx.res.destroyed) ctx.res.flushHeaders();
  });
};

function answer(
  ctx: Context,
  { status, hasBody, send }: StreamedResponse,
  passed: Readonly<Record<string, string>>,
): void {
  ctx.status = status;
  ctx.set('Content-Type', 'application/octet-stream');
  ctx.set(passed);
  ctx.set('Content-Security-Policy', contentSecurityPolicy);
  ctx.set('X-Content-Type-Options', 'nosniff');
  const exposed = ctx.response.get('Access-Control-Expose-Headers');
  if (exposed) {
    ctx.set('Access-Control-Expose-Headers', [exposed, ...Object.keys(passed)].join(','));
  }
  if (hasBody) bodies.set(ctx, send);
}
