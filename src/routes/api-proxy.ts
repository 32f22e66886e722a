import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { apiRequestHeaders, pageResponseHeaders } from '../api-proxy/headers.ts';
import { proxiedUrl, relayedLocation } from '../api-proxy/path.ts';
import { RelayError } from '../failures/relay-error.ts';
import { awaitBody, readBody } from '../http/body.ts';
import { type Context, clientGone, type Handler } from '../http/context.ts';
import { limits } from '../limits.ts';
import type { StreamedRequest, StreamedResponse } from '../upstream/messages.ts';
import type { SessionRequests } from './session-requests.ts';

/** A part of a provider's API that the pages of one front end may use. */
export interface Api {
  /** The path of the relay, with a slash at both ends. */
  readonly path: string;
  /** The URL that takes its place. Its path ends with a slash. */
  readonly url: URL;
  readonly methods: readonly StreamedRequest['method'][];
  /** Further request headers that reach the API, in lower case. */
  readonly requestHeaders: readonly string[];
  readonly frontEnd: string;
  /** The name of the registration whose access tokens the API takes. */
  readonly registration: string;
}

/** A response of an API must never become a page of the relay's origin, which the session's cookies belong to. */
const contentSecurityPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";

const proxyAuthenticationRequired = 407;
const mostListeners = 20;

/**
 * Passes requests of a page to a provider's API, with the access token of its session.
 *
 * @param ownAddressOf the client address of a request, if it is known to be the client's own
 * @param baseUrl the relay's public address
 * @see RFC 10017 §6.1.3.6
 */
export function proxyApi(
  api: Api,
  requests: SessionRequests,
  ownAddressOf: (request: IncomingMessage) => string | undefined,
  baseUrl: string,
): Handler {
  return async (ctx: Context) => {
    const open = await requests.open(ctx, api.frontEnd);
    const { session, registration } = open;
    if (registration.name !== api.registration) throw new RelayError('api_of_other_provider');
    // The URL in absolute form has another path in front.
    const isPath = ctx.originalUrl === ctx.url;
    const url = isPath ? proxiedUrl(ctx.url, api.path, api.url) : undefined;
    if (url === undefined) throw new RelayError('path_refused');
    const accessToken = requests.tokenOf(open);
    const method = api.methods.find((one) => one === ctx.method);
    if (method === undefined) throw new RelayError('method_not_allowed');
    const request: StreamedRequest = {
      holder: { session: session.id, address: ownAddressOf(ctx.req) },
      method,
      url,
      headers: apiRequestHeaders(ctx.req.headers, api.requestHeaders, accessToken),
      body: await uploadOf(ctx),
      signal: clientGone(ctx),
    };
    const response = await registration.callApi(request, (call) => {
      ctx.state.providerCall = call;
      // The status may be sent already.
      if (call.outcome !== 'answered') ctx.state.failure = call.outcome;
    });
    const refusal = refusalOf(response.status);
    const { location } = response.headers;
    const target = location && relayedLocation(location, url, api.url, baseUrl + api.path);
    if (refusal === undefined) return answer(ctx, response, target);
    // At its end the call is known, and its connection can be used again.
    await finished(response.body.resume()).catch(() => {});
    throw refusal;
  };
}

/** @returns undefined if the request has no body */
async function uploadOf(ctx: Context): Promise<StreamedRequest['body']> {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return undefined;
  const { 'content-length': given, 'transfer-encoding': coding } = ctx.req.headers;
  // Other codings are gone after this hop, but the API would not know. @see RFC 9112 §6.1
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
    return { content: Readable.from(await readBody(ctx)), length };
  }
  awaitBody(ctx);
  return { content: ctx.req, length };
}

function answer(ctx: Context, { status, headers, body }: StreamedResponse, location?: string) {
  const passed = { ...pageResponseHeaders(headers), ...(location && { location }) };
  // The streams, Koa and the relay wait for its end, each with listeners of its own.
  ctx.res.setMaxListeners(mostListeners);
  // Otherwise, the head would wait for the first byte of the body.
  ctx.res.once('pipe', () => ctx.res.flushHeaders());
  ctx.status = status;
  ctx.body = body;
  ctx.set(passed);
  ctx.set('Content-Security-Policy', contentSecurityPolicy);
  const exposed: string | undefined = ctx.response.get('Access-Control-Expose-Headers');
  if (exposed !== undefined) {
    ctx.set('Access-Control-Expose-Headers', [exposed, ...Object.keys(passed)].join(','));
  }
}

/** Statuses that would mean something else to a browser at the relay's origin, or nothing. @see RFC 9110 §15 */
function refusalOf(status: number): RelayError | undefined {
  if (status === 401) return new RelayError('token_invalid');
  const isUnusable = status === proxyAuthenticationRequired || status < 200 || status > 599;
  return isUnusable ? new RelayError('provider_answer_unusable') : undefined;
}
