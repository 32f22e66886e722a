import { proxiedUrl } from '../api-proxy/path.ts';
import { RelayError } from '../failures/relay-error.ts';
import { awaitBody, readBody } from '../http/body.ts';
import type { Context, Handler } from '../http/context.ts';
import { securityHeaders } from '../http/response-headers.ts';
import { limits } from '../limits.ts';
import type { StreamedRequest, StreamedResponse } from '../upstream/messages.ts';

/** A path of the relay that leads to another server. */
export interface Way {
  readonly path: string;
  /** The URL in place of the path. It ends with a slash if the path does. */
  readonly url: URL;
}

/** A request to pass on, and how to treat its response. */
export interface Passage extends Pick<StreamedRequest, 'method' | 'url' | 'headers'> {
  call(request: Pick<StreamedRequest, 'method' | 'url' | 'headers' | 'body' | 'client'>): Promise<StreamedResponse>;
  /** The failure in place of a response with this status, if that must not pass. */
  refusalOf(status: number): RelayError | undefined;
  passed(headers: StreamedResponse['headers'], status: number): Readonly<Record<string, string | string[]>>;
  /** Whether the response is of an application that has its host to itself. It says itself what its pages may do. */
  readonly isOfApplication?: boolean;
}

/** Keeps a response of another server from acting as a page of the relay's origin. */
const contentSecurityPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";

/** What the gateway lets pages of all origins do, which only a token makes safe. */
const corsHeaders = ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'];

const switchingProtocols = 101;
const proxyAuthenticationRequired = 407;

/** The URL at the other server. @throws {RelayError} `path_refused` */
export function requireTarget(ctx: Context, { path, url }: Way): URL {
  // An absolute URL does not pass, even though `toOriginForm` rewrote it.
  const isPath = ctx.originalUrl.startsWith('/');
  const target = isPath ? proxiedUrl(ctx.url, path, url) : undefined;
  if (target === undefined) throw new RelayError('path_refused');
  return target;
}

/** Passes a request to another server and the response to the client. Both bodies are streamed. */
export async function passOn(ctx: Context, passage: Passage): Promise<void> {
  const { method, url, headers, call, refusalOf, passed, isOfApplication = false } = passage;
  const response = await call({ method, url, headers, body: await readUpload(ctx), client: ctx.res });
  const refusal = refusalOf(response.status);
  if (refusal === undefined) return answer(ctx, response, passed(response.headers, response.status), isOfApplication);
  // Read to the end, so that the outcome of the call is known and its connection can be reused.
  await response.discard();
  throw refusal;
}

/** Whether a status would mislead the client here, or mean nothing. @see RFC 9110 §15 */
export function isUnusable(status: number): boolean {
  if (status === switchingProtocols) return false;
  return status === proxyAuthenticationRequired || status < 200 || status > 599;
}

/** @returns undefined if the request has no body */
async function readUpload(ctx: Context): Promise<StreamedRequest['body']> {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return undefined;
  const { 'content-length': given, 'transfer-encoding': coding } = ctx.req.headers;
  // Other transfer codings are decoded at this hop, but the server would still be told of them. @see RFC 9112 §6.1
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new RelayError('bad_request');
  }
  const length = given === undefined ? undefined : Number(given);
  if (coding === undefined && !length) return undefined;
  if (length !== undefined && length > limits.apiRequestSize) {
    throw new RelayError('upload_too_large');
  }
  // Read a small body first: one that is announced and never sent must not occupy a call.
  if (length !== undefined && length <= limits.requestBodySize) {
    return await readBody(ctx);
  }
  awaitBody(ctx);
  return { content: ctx.req, length };
}

/** The functions that send the bodies of responses, for when all middleware has set its headers. */
const bodies = new WeakMap<Context, () => void>();

/** Sends the bodies of passed responses itself, because Koa would need a stream between the two connections. */
export const sendPassedBodies: Handler = async (ctx, next) => {
  await next();
  const send = bodies.get(ctx);
  if (send === undefined) return;
  ctx.respond = false;
  // What follows is no HTTP.
  if (ctx.status === switchingProtocols) ctx.res.flushHeaders();
  send();
  // Send the head now unless the body has come already: the client may need it long before the first byte of the body.
  setImmediate(() => {
    if (!ctx.res.headersSent && !ctx.res.destroyed) ctx.res.flushHeaders();
  });
};

function answer(
  ctx: Context,
  { status, hasBody, send }: StreamedResponse,
  passed: Readonly<Record<string, string | string[]>>,
  isOfApplication: boolean,
): void {
  ctx.status = status;
  if (hasBody) bodies.set(ctx, send);
  if (isOfApplication) for (const name of [...Object.keys(securityHeaders), ...corsHeaders]) ctx.remove(name);
  else ctx.set('Content-Type', 'application/octet-stream');
  ctx.set(passed);
  // The head of a 101 has no body, whatever its server says. @see RFC 9110 §8.6
  if (status === switchingProtocols) for (const name of ['Content-Type', 'Content-Length']) ctx.remove(name);
  if (isOfApplication) return;
  ctx.set('Content-Security-Policy', contentSecurityPolicy);
  ctx.set('X-Content-Type-Options', 'nosniff');
  const exposed = ctx.response.get('Access-Control-Expose-Headers');
  if (exposed) {
    ctx.set('Access-Control-Expose-Headers', [exposed, ...Object.keys(passed)].join(','));
  }
}
