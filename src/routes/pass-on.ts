import { mapTarget } from '../api-proxy/map-target.ts';
import { RelayError } from '../failures/relay-error.ts';
import { readBody, sendContinue } from '../http/body.ts';
import type { Context, Handler } from '../http/context.ts';
import { securityHeaders } from '../http/response-headers.ts';
import { limits } from '../limits.ts';
import type { StreamedRequest, StreamedResponse } from '../upstream/messages.ts';

/** A path of the relay, and the URL at another server that it leads to. */
export interface Way {
  readonly path: string;
  /** The URL in place of the path. It ends with a slash if the path does. */
  readonly url: URL;
}

/** A request to pass on, and how to treat its response. */
export interface Passage extends Pick<StreamedRequest, 'method' | 'url' | 'headers'> {
  /** Makes the call to the other server. Rejects with the failure if no response begins. */
  call(request: Pick<StreamedRequest, 'method' | 'url' | 'headers' | 'body' | 'client'>): Promise<StreamedResponse>;
  /** The failure to answer instead of a response with this status. Undefined if the response passes. */
  failureInsteadOf(status: number): RelayError | undefined;
  /** Selects and adapts the headers of the response for the client. */
  headersToPass(headers: StreamedResponse['headers'], status: number): Readonly<Record<string, string | string[]>>;
  /** Whether an application answers that has its host to itself. It decides what its pages may do, not the relay. */
  readonly isOfApplication?: boolean;
}

/** Prevents a response of another server from acting as a page of the relay's origin. */
const contentSecurityPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";

/** The gateway sets these for pages of all origins. That is safe for requests with a token, but not with a cookie. */
const corsHeaders = ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'];

const switchingProtocols = 101;
const proxyAuthenticationRequired = 407;

/** The URL of a request at the other server. @throws {RelayError} `path_refused` */
export function requireTarget(ctx: Context, { path, url }: Way): URL {
  // A request for an absolute URL is refused, although `rewriteToOriginForm` has rewritten `ctx.url`.
  const isPath = ctx.originalUrl.startsWith('/');
  const target = isPath ? mapTarget(ctx.url, path, url) : undefined;
  if (target === undefined) throw new RelayError('path_refused');
  return target;
}

/** Passes a request to another server and the response to the client. Both bodies are streamed. */
export async function passOn(ctx: Context, passage: Passage): Promise<void> {
  const { method, url, headers, call, failureInsteadOf, headersToPass, isOfApplication = false } = passage;
  const response = await call({ method, url, headers, body: await readUpload(ctx), client: ctx.res });
  const failure = failureInsteadOf(response.status);
  if (failure === undefined) {
    answer(ctx, response, headersToPass(response.headers, response.status), isOfApplication);
    return;
  }
  // Read to the end, so that the outcome of the call is known and its connection can be reused.
  await response.discard();
  throw failure;
}

/** Whether a status would mislead the client if it passed, or means nothing. @see RFC 9110 §15 */
export function isUnusable(status: number): boolean {
  if (status === switchingProtocols) return false;
  return status === proxyAuthenticationRequired || status < 200 || status > 599;
}

/** The body of a request, as bytes if it is short, else as a stream. @returns undefined if there is no body */
async function readUpload(ctx: Context): Promise<StreamedRequest['body']> {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return undefined;
  const { 'content-length': given, 'transfer-encoding': coding } = ctx.req.headers;
  // Refuse other transfer codings than chunked: they concern this hop alone, but the server would be told of them.
  // @see RFC 9112 §6.1
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new RelayError('bad_request');
  }
  const length = given === undefined ? undefined : Number(given);
  if (coding === undefined && !length) return undefined;
  if (length !== undefined && length > limits.apiRequestSize) {
    throw new RelayError('upload_too_large');
  }
  // Read a small body before the call, because a body that is announced and never sent must not occupy a call.
  if (length !== undefined && length <= limits.requestBodySize) {
    return await readBody(ctx);
  }
  sendContinue(ctx);
  return { content: ctx.req, length };
}

/**
 * Sends the bodies of passed responses, when all middleware has set its headers. It does so in place of Koa, which would
 * need a stream between the two connections.
 */
export const sendPassedBodies: Handler = async (ctx, next) => {
  await next();
  const { sendBody } = ctx.state;
  if (sendBody === undefined) return;
  ctx.respond = false;
  // After 101, the connection carries no HTTP, so Node.js would never send the head itself.
  if (ctx.status === switchingProtocols) ctx.res.flushHeaders();
  sendBody();
  // Send the head without waiting for the body, because an event stream may have its first byte much later.
  setImmediate(() => {
    if (!ctx.res.headersSent && !ctx.res.destroyed) ctx.res.flushHeaders();
  });
};

/** Answers with a response of the other server, whose body `sendPassedBodies` sends. */
function answer(
  ctx: Context,
  { status, hasBody, send }: StreamedResponse,
  headers: Readonly<Record<string, string | string[]>>,
  isOfApplication: boolean,
): void {
  ctx.status = status;
  if (hasBody) ctx.state.sendBody = send;
  if (isOfApplication) removeHeaders(ctx, [...Object.keys(securityHeaders), ...corsHeaders]);
  // For a response without a type, so that no browser takes it for a page. A type in `headers` replaces this one.
  else ctx.set('Content-Type', 'application/octet-stream');
  ctx.set(headers);
  // A 101 has no body, whatever its server says. @see RFC 9110 §8.6
  if (status === switchingProtocols) removeHeaders(ctx, ['Content-Type', 'Content-Length']);
  if (isOfApplication) return;
  ctx.set('Content-Security-Policy', contentSecurityPolicy);
  ctx.set('X-Content-Type-Options', 'nosniff');
  const exposed = ctx.response.get('Access-Control-Expose-Headers');
  if (exposed) {
    ctx.set('Access-Control-Expose-Headers', [exposed, ...Object.keys(headers)].join(','));
  }
}

function removeHeaders(ctx: Context, names: readonly string[]): void {
  for (const name of names) ctx.remove(name);
}
