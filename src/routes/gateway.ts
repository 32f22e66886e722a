import type { IncomingMessage } from 'node:http';
import { mapApplicationTarget, mapGuessedLocation } from '../api-proxy/map-target.ts';
import {
  applicationRequestHeaders,
  browserResponseHeaders,
  clientResponseHeaders,
  resourceRequestHeaders,
} from '../api-proxy/passed-headers.ts';
import { handshakeRequestHeaders, handshakeResponseHeaders } from '../api-proxy/websocket-handshake.ts';
import type { DoorHost } from '../browsers/browser-door.ts';
import { type FailureCode, RelayError } from '../failures/relay-error.ts';
import type { Context, Handler, RequestState } from '../http/context.ts';
import { isRelayCookie, withoutRelayCookies } from '../http/cookies.ts';
import { passedMethods } from '../http/cors.ts';
import { isCredential } from '../oauth/authorization-header.ts';
import type { AccessTokenContent } from '../resources/access-tokens.ts';
import { type Door, type Doors, enter } from '../resources/door.ts';
import { buildIdentityHeaders } from '../resources/identity-headers.ts';
import type { Resource, Upstream } from '../resources/resource.ts';
import type { Cut, Stream, StreamSource, Streams } from '../resources/streams.ts';
import type { StreamedResponse, UpstreamCall, WebSocketOpening } from '../upstream/messages.ts';
import type { Transfer } from '../upstream/transfer.ts';
import { enterDoor } from './enter-door.ts';
import { isUnusable, type Passage, passOn, requireTarget } from './pass-on.ts';
import { recordCaller, requireToken } from './protected-resource.ts';
import { closings, readOpening } from './websocket.ts';

/** The failures of a call to a provider, each with the same failure of a call to a server behind the gateway. */
const failuresOfServer: Readonly<Partial<Record<FailureCode, FailureCode>>> = {
  provider_unreachable: 'upstream_unreachable',
  provider_timeout: 'upstream_timeout',
  provider_answer_unusable: 'upstream_answer_unusable',
  overloaded: 'streams_full',
};

/** The failures of requests that the relay itself has ended. */
const failuresOfCuts: Readonly<Record<Cut, FailureCode>> = {
  token_end: 'resource_token_expired',
  logout: 'resource_token_invalid',
  reload: 'not_ready',
  stop: 'not_ready',
  limit: 'streams_full',
};

/** For the log, who ended a request that failed with one of these codes. */
const whoEnded: Readonly<Partial<Record<FailureCode, RequestState['ended']>>> = {
  client_gone: 'client',
  upload_too_large: 'limit',
  overloaded: 'limit',
  request_timeout: 'limit',
};

export interface GatewayContext {
  readonly streams: Streams;
  /** Whether the relay has several gateways, so that each must leave places to the others. */
  readonly hasSeveralGateways: boolean;
  /** The client address of a request; undefined if it may be a proxy's. */
  readonly clientNetworkUnlessProxy: (request: IncomingMessage) => string | undefined;
  /** Called if a request gets no place, or takes the place of another request. */
  readonly onFull: () => void;
}

/** A request to which a door has opened. */
interface Entry extends Pick<Stream, 'door' | 'opened' | 'readAgainAt'> {
  /** Whether the cookie of a browser opened the door. Otherwise, the token of a program did. */
  readonly isOfBrowser: boolean;
}

/**
 * The gateway of a resource: passes each request to which a door opens to the server behind it, and says whose it is.
 *
 * @param host of the resource, if it opens to browsers
 */
export function gateway(doors: Doors, upstream: Upstream, context: GatewayContext, host?: DoorHost): Handler {
  const { streams } = context;
  const [{ resource }] = doors;
  const rulesForPrograms = createRulesForPrograms(resource, upstream);
  const rulesForBrowsers = createRulesForBrowsers(resource, upstream);
  return async (ctx: Context) => {
    ctx.state.resource = resource.name;
    const entry = host === undefined ? await enterByToken(ctx, doors) : await enterByTokenOrCookie(host, ctx);
    // The browser was sent to the login.
    if (entry === undefined) return;
    const { method } = ctx;
    if (!passedMethods.includes(method)) throw new RelayError('method_not_allowed');
    const webSocket = readOpening(ctx);
    const rules = entry.isOfBrowser ? rulesForBrowsers : rulesForPrograms;
    const url = rules.requireTarget(ctx);
    const isListening = webSocket !== undefined || rules.isListening(ctx);
    // A relay that stops takes no new streams. The client of an ended stream comes back at once, on the same
    // connection.
    if (isListening && streams.isStopping()) throw new RelayError('not_ready');
    await passOn(ctx, {
      method,
      url,
      call: createCall(ctx, { ...entry, isListening }, context, webSocket),
      failureInsteadOf: rules.failureInsteadOf,
      headers: {
        ...rules.requestHeaders(ctx, entry.opened),
        'x-request-id': ctx.state.requestId,
        ...buildKnownIdentityHeaders(entry.opened),
        ...(webSocket && handshakeRequestHeaders(ctx.req.headers)),
      },
      headersToPass: (received, status) => ({
        ...rules.headersToPass(received, url),
        ...(webSocket && handshakeResponseHeaders(received, status === 101)),
      }),
      isOfApplication: entry.isOfBrowser,
    });
  };
}

/** Opens a door to the token of a program. @throws {RelayError} as `requireToken` and `enter` do */
async function enterByToken(ctx: Context, doors: Doors): Promise<Entry> {
  const token = requireToken(ctx);
  const entered = await enter(doors, token);
  recordCaller(ctx, entered);
  return { ...entered, isOfBrowser: false, readAgainAt: (doorAfterReload) => doorAfterReload.readIfGrantedNow(token) };
}

/** Opens a door to a token or a cookie. @returns undefined if the browser was sent to the login */
async function enterByTokenOrCookie(host: DoorHost, ctx: Context): Promise<Entry | undefined> {
  const entered = await enterDoor(host, ctx, () => ({ method: ctx.method, target: ctx.url }));
  if (entered === undefined) return undefined;
  const isOfBrowser = ctx.state.by === 'cookie';
  const token = isOfBrowser ? (host.cookies.get(ctx) ?? '') : requireToken(ctx);
  const readAgainAt = (doorAfterReload: Door) => doorAfterReload.readIfGrantedNow(token);
  return { ...entered, isOfBrowser, readAgainAt };
}

/** The rules by which requests and their responses pass, for programs or for browsers. */
interface PassRules {
  /** The URL at the server. @throws {RelayError} `path_refused` */
  requireTarget(ctx: Context): URL;
  /** Whether a request waits for events, as far as it says so, so that it must end with its token. */
  isListening(ctx: Context): boolean;
  /** @throws {RelayError} if the provider's token cannot be passed to the server */
  requestHeaders(ctx: Context, opened: AccessTokenContent): Readonly<Record<string, string>>;
  readonly failureInsteadOf: Passage['failureInsteadOf'];
  headersToPass(received: StreamedResponse['headers'], url: URL): ReturnType<Passage['headersToPass']>;
}

const acceptsEvents = (ctx: Context) => ctx.method === 'GET' && /\btext\/event-stream\b/i.test(ctx.get('Accept'));

/** The headers that tell the server under which address the client knows it. */
const publicAddress = ({ host, protocol }: URL) => ({
  'x-forwarded-host': host,
  'x-forwarded-proto': protocol.slice(0, -1),
});

/**
 * Finds the public address of a redirect; undefined if it leads elsewhere. The server may name itself by its own address
 * or by the public one.
 *
 * @param url that was requested of the server
 * @param base the URL of the server
 */
const findPublicLocation = (location: string, url: URL, base: URL, publicUrl: URL) =>
  mapGuessedLocation(location, url, base, publicUrl) ?? mapGuessedLocation(location, url, publicUrl, publicUrl);

/** The rules for programs. Their token opens an API, whose responses must not act as pages or set cookies. */
function createRulesForPrograms(resource: Resource, upstream: Upstream): PassRules {
  const publicUrl = new URL(resource.url);
  const way = { path: publicUrl.pathname, url: new URL(upstream.url) };
  return {
    requireTarget: (ctx) => requireTarget(ctx, way),
    isListening: (ctx) => acceptsEvents(ctx) || ctx.get('Mcp-Method') === 'subscriptions/listen',
    requestHeaders: (ctx, opened) => ({
      ...resourceRequestHeaders(ctx.req.headers),
      ...publicAddress(publicUrl),
      ...(upstream.givesToken && { authorization: `Bearer ${requireProviderToken(opened)}` }),
    }),
    failureInsteadOf(status) {
      const { givesToken } = upstream;
      // If a 401 passed, clients would log in again and again.
      if (status === 401) return new RelayError(givesToken ? 'upstream_refused_token' : 'upstream_refused_relay');
      return isUnusable(status) ? new RelayError('upstream_answer_unusable') : undefined;
    },
    headersToPass(received, url) {
      const location = received.location && findPublicLocation(received.location, url, way.url, publicUrl);
      return { ...clientResponseHeaders(received), ...(location && { location }) };
    },
  };
}

/**
 * The rules for browsers. Their cookie opens a whole application, which has its host to itself. So its pages, cookies,
 * redirects, policies, and even its own login pass. The cookies of the relay pass in neither direction.
 */
function createRulesForBrowsers(resource: Resource, upstream: Upstream): PassRules {
  const publicUrl = new URL(resource.url);
  const base = new URL(upstream.url);
  return {
    requireTarget(ctx) {
      const target = ctx.originalUrl.startsWith('/') ? mapApplicationTarget(ctx.url, base) : undefined;
      if (target === undefined) throw new RelayError('path_refused');
      return target;
    },
    isListening: acceptsEvents,
    requestHeaders(ctx) {
      const cookie = withoutRelayCookies(ctx.req.headers.cookie);
      const headers = {
        ...applicationRequestHeaders(ctx.req.headers),
        ...publicAddress(publicUrl),
        cookie,
        // The public host, because applications compare `Host` with `Origin`.
        host: publicUrl.host,
      };
      return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
    },
    failureInsteadOf: (status) => (isUnusable(status) ? new RelayError('upstream_answer_unusable') : undefined),
    headersToPass(received, url) {
      const { location } = received;
      const target = location && (findPublicLocation(location, url, base, publicUrl) ?? location);
      return { ...browserResponseHeaders(received, isRelayCookie), ...(target && { location: target }) };
    },
  };
}

/** Creates the function that passes a request to the server, and records how it ends. */
function createCall(
  ctx: Context,
  stream: Omit<Stream, 'end'>,
  { streams, hasSeveralGateways, clientNetworkUnlessProxy, onFull }: GatewayContext,
  webSocket: WebSocketOpening | undefined,
): Passage['call'] {
  const source: StreamSource = { address: clientNetworkUnlessProxy(ctx.req), hasOthers: hasSeveralGateways };
  let transfer: Transfer | undefined;
  /** Why the relay itself has ended the request. Undefined if it has not. */
  let cut: Cut | undefined;
  let isWebSocket = false;
  let isEventStream = false;
  /** The failure that the client gets. A call that the relay has cut fails with `client_gone`, which would be wrong. */
  const codeForClient = (code: FailureCode) => (cut ? failuresOfCuts[cut] : (failuresOfServer[code] ?? code));
  const cancel = () => transfer?.cancel('client_gone');
  const end = (why: Cut) => {
    cut ??= why;
    if (why === 'limit') onFull();
    // Event streams and WebSockets can end in an orderly way. Any other body that ended so would seem complete.
    if (isWebSocket || isEventStream) transfer?.finish(closings[why]);
    else cancel();
  };
  const observe = ({ outcome }: UpstreamCall) => {
    const failure = outcome === 'answered' ? undefined : outcome;
    const summary = isWebSocket ? transfer?.webSocketSummary : undefined;
    ctx.state.ended = cut ?? (failure && whoEnded[failure]) ?? summary?.endedFirst ?? 'upstream';
    ctx.state.webSocket = summary && { received: summary.received, sent: summary.sent };
    // If the response has begun, only the log can say that it is incomplete.
    if (failure) ctx.state.failure = codeForClient(failure);
  };
  return async (request) => {
    try {
      const passed: Stream = { ...stream, end };
      transfer = streams.pass(passed, { ...request, ...source, webSocket }, observe);
      // A reload may have ended the request before there was a transfer.
      if (cut !== undefined) cancel();
      const response = await transfer.response;
      isWebSocket = response.status === 101;
      const { 'content-type': type = '', 'content-length': length } = response.headers;
      isEventStream = length === undefined && /^text\/event-stream\b/i.test(type);
      // Not every client says that it waits for events. The answer to a tool call is an event stream as well.
      if (isEventStream && ctx.method === 'GET') streams.countAsListening(passed);
      return response;
    } catch (error) {
      if (!(error instanceof RelayError)) throw error;
      if (error.code === 'overloaded') onFull();
      // If no call was made, `observe` has recorded nothing.
      ctx.state.ended ??= whoEnded[error.code];
      throw new RelayError(codeForClient(error.code));
    }
  };
}

/**
 * Builds the identity headers that have a value, with names in lower case as the other headers of the request. The
 * gateway can leave out the empty ones, because no identity header of the client passes it (`claimsIdentity`).
 */
function buildKnownIdentityHeaders(opened: AccessTokenContent): Readonly<Record<string, string>> {
  const known = Object.entries(buildIdentityHeaders(opened)).filter(([, value]) => value !== '');
  return Object.fromEntries(known.map(([name, value]) => [name.toLowerCase(), value]));
}

/**
 * The provider's token in a token for the resource.
 *
 * @throws {RelayError} `resource_token_expired` if the token has none, because the resource was configured without it
 *   when the token was issued; `token_malformed` if a header cannot carry it
 */
function requireProviderToken({ providerToken }: AccessTokenContent): string {
  if (providerToken === undefined) throw new RelayError('resource_token_expired');
  if (!isCredential(providerToken)) throw new RelayError('token_malformed');
  return providerToken;
}
