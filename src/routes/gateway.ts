import type { IncomingMessage } from 'node:http';
import {
  applicationRequestHeaders,
  browserResponseHeaders,
  clientResponseHeaders,
  resourceRequestHeaders,
} from '../api-proxy/headers.ts';
import { applicationUrl, relayedLocation } from '../api-proxy/path.ts';
import { answerHeaders, openingHeaders } from '../api-proxy/websocket.ts';
import { type FailureCode, RelayError } from '../failures/relay-error.ts';
import type { Context, Handler, RequestState } from '../http/context.ts';
import { isRelayCookie, withoutRelayCookies } from '../http/cookie-writer.ts';
import { passedMethods } from '../http/cors.ts';
import { isCredential } from '../oauth/authorization-header.ts';
import type { AccessTokenContent } from '../resources/access-tokens.ts';
import type { Door } from '../resources/door.ts';
import { identityHeaders } from '../resources/identity-headers.ts';
import type { Resource, Upstream } from '../resources/resource.ts';
import type { Cut, Stream, StreamSource, Streams } from '../resources/streams.ts';
import type { StreamedResponse, UpstreamCall, WebSocketOpening } from '../upstream/messages.ts';
import type { Transfer } from '../upstream/transfer.ts';
import { type DoorPlace, enterDoor } from './enter-door.ts';
import { isUnusable, type Passage, passOn, requireTarget } from './pass-on.ts';
import { recordCaller, requireToken } from './protected-resource.ts';
import { closings, requireOpening } from './websocket.ts';

/** The failures of a call to a provider, as those of a call to a server behind the gateway. */
const failures: Readonly<Partial<Record<FailureCode, FailureCode>>> = {
  provider_unreachable: 'upstream_unreachable',
  provider_timeout: 'upstream_timeout',
  provider_answer_unusable: 'upstream_answer_unusable',
  overloaded: 'streams_full',
};

/** What the client gets if the relay has ended a request before its answer, or broken it off. */
const cuts: Readonly<Record<Cut, FailureCode>> = {
  token_end: 'resource_token_expired',
  logout: 'resource_token_invalid',
  reload: 'not_ready',
  stop: 'not_ready',
  limit: 'streams_full',
};

/** Who has ended a request that failed so, in the log. */
const ends: Readonly<Partial<Record<FailureCode, RequestState['ended']>>> = {
  client_gone: 'client',
  upload_too_large: 'limit',
  overloaded: 'limit',
  request_timeout: 'limit',
};

/** What the gateways of a relay share. */
export interface GatewayContext {
  readonly streams: Streams;
  /** Whether there is more than one. */
  readonly areSeveral: boolean;
  /** The client address of a request, if it is known to be the client's own. */
  readonly subscriberUnlessProxy: (request: IncomingMessage) => string | undefined;
  /** Called if a request gets no place, or another one ends for its sake. */
  readonly onFull: () => void;
}

/** What has opened a door to a request, and what closes it again. */
interface Entry extends Pick<Stream, 'door' | 'opened' | 'mayStayAt'> {
  /** Whether it is the browser of a person. Otherwise it is a program. */
  readonly isOfBrowser: boolean;
}

/**
 * Passes the requests of those to whom the door of a resource opens to the server behind it, with who they are.
 *
 * @param place what opens the resource to browsers, if something does
 */
export function gateway(door: Door, upstream: Upstream, context: GatewayContext, place?: DoorPlace): Handler {
  const { streams } = context;
  const { resource } = door;
  const asApi = passesOfPrograms(resource, upstream);
  const asApplication = passesOfBrowsers(resource, upstream);
  return async (ctx: Context) => {
    ctx.state.resource = resource.name;
    const entry = place === undefined ? await enterByToken(ctx, door) : await enterAt(place, ctx);
    // The browser is sent to the login.
    if (entry === undefined) return;
    const { method } = ctx;
    if (!passedMethods.includes(method)) throw new RelayError('method_not_allowed');
    const webSocket = requireOpening(ctx);
    const pass = entry.isOfBrowser ? asApplication : asApi;
    const url = pass.requireTarget(ctx);
    const isListening = webSocket !== undefined || pass.isListening(ctx);
    // The client of a stream that the stop has ended comes back at once, on the same connection.
    if (isListening && streams.isStopping()) throw new RelayError('not_ready');
    await passOn(ctx, {
      method,
      url,
      call: createCall(ctx, { ...entry, isListening }, context, webSocket),
      refusalOf: pass.refusalOf,
      headers: {
        ...pass.requestHeaders(ctx, entry.opened),
        'x-request-id': ctx.state.requestId,
        ...identityOf(entry.opened),
        ...(webSocket && openingHeaders(ctx.req.headers)),
      },
      passed: (answered, status) => ({
        ...pass.passed(answered, url),
        ...(webSocket && answerHeaders(answered, status === 101)),
      }),
      isOfApplication: entry.isOfBrowser,
    });
  };
}

async function enterByToken(ctx: Context, door: Door): Promise<Entry> {
  const token = requireToken(ctx);
  const opened = await door.open(token);
  recordCaller(ctx, opened);
  return { door, opened, isOfBrowser: false, mayStayAt: (present) => present.isGrantedNow(token) };
}

/** @returns undefined if the browser is sent to the login */
async function enterAt(place: DoorPlace, ctx: Context): Promise<Entry | undefined> {
  const { byToken, byCookie, cookies } = place.door;
  const opened = await enterDoor(place, ctx, () => ({ method: ctx.method, target: ctx.url }));
  if (opened === undefined) return undefined;
  const isOfBrowser = ctx.state.by === 'cookie';
  const shown = isOfBrowser ? (cookies.get(ctx) ?? '') : requireToken(ctx);
  const mayStayAt = (present: Door) => present.isGrantedNow(shown);
  return { door: isOfBrowser ? byCookie : byToken, opened, isOfBrowser, mayStayAt };
}

/** How the requests and responses of a kind of callers pass. */
interface Passes {
  /** @throws {RelayError} `path_refused` */
  requireTarget(ctx: Context): URL;
  isListening(ctx: Context): boolean;
  /** @throws {RelayError} if the server cannot get what it is to get */
  requestHeaders(ctx: Context, opened: AccessTokenContent): Readonly<Record<string, string>>;
  readonly refusalOf: Passage['refusalOf'];
  passed(response: StreamedResponse['headers'], url: URL): ReturnType<Passage['passed']>;
}

/** What the server is told of the public address. */
const publicAddress = ({ host, protocol }: URL) => ({
  'x-forwarded-host': host,
  'x-forwarded-proto': protocol.slice(0, -1),
});

/** What a token opens is an API: it acts on nothing but its own answer. */
function passesOfPrograms(resource: Resource, upstream: Upstream): Passes {
  const place = new URL(resource.url);
  const way = { path: place.pathname, url: new URL(upstream.url) };

  /** Where a redirect leads, by the address of the server or by that of the resource. */
  const locationOf = (location: string, url: URL) =>
    relayedLocation(location, url, way.url, resource.url) ?? relayedLocation(location, url, place, resource.url);

  return {
    requireTarget: (ctx) => requireTarget(ctx, way),
    isListening: (ctx) => ctx.method === 'GET' || ctx.get('Mcp-Method') === 'subscriptions/listen',
    requestHeaders: (ctx, opened) => ({
      ...resourceRequestHeaders(ctx.req.headers),
      ...publicAddress(place),
      ...(upstream.givesToken && { authorization: requireCredentials(opened) }),
    }),
    refusalOf(status) {
      const { givesToken } = upstream;
      // With 401, clients would log in again, for ever.
      if (status === 401) return new RelayError(givesToken ? 'upstream_refused_token' : 'upstream_refused_relay');
      return isUnusable(status) ? new RelayError('upstream_answer_unusable') : undefined;
    },
    passed(answered, url) {
      const target = answered.location && locationOf(answered.location, url);
      return { ...clientResponseHeaders(answered), ...(target && { location: target }) };
    },
  };
}

/**
 * What a cookie opens is a whole application, which has its host to itself: its pages, cookies, redirects, policies, and
 * even its own login pass. The cookies of the relay pass in neither direction.
 */
function passesOfBrowsers(resource: Resource, upstream: Upstream): Passes {
  const place = new URL(resource.url);
  const base = new URL(upstream.url);
  return {
    requireTarget(ctx) {
      const target = ctx.originalUrl.startsWith('/') ? applicationUrl(ctx.url, base) : undefined;
      if (target === undefined) throw new RelayError('path_refused');
      return target;
    },
    isListening: (ctx) => ctx.method === 'GET' && /\btext\/event-stream\b/i.test(ctx.get('Accept')),
    requestHeaders(ctx) {
      const cookie = withoutRelayCookies(ctx.req.headers.cookie);
      const headers = { ...applicationRequestHeaders(ctx.req.headers), ...publicAddress(place), cookie };
      // Applications compare `Host` with `Origin`.
      const sent = { ...headers, host: place.host };
      return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== ''));
    },
    refusalOf: (status) => (isUnusable(status) ? new RelayError('upstream_answer_unusable') : undefined),
    passed(answered, url) {
      const { location } = answered;
      const target = location && (relayedLocation(location, url, base, resource.url) ?? location);
      return { ...browserResponseHeaders(answered, isRelayCookie), ...(target && { location: target }) };
    },
  };
}

/** Makes the call of a request, and records how it ends. */
function createCall(
  ctx: Context,
  stream: Omit<Stream, 'end'>,
  { streams, areSeveral, subscriberUnlessProxy, onFull }: GatewayContext,
  webSocket: WebSocketOpening | undefined,
): Passage['call'] {
  const source: StreamSource = { address: subscriberUnlessProxy(ctx.req), hasOthers: areSeveral };
  let transfer: Transfer | undefined;
  /** Why the relay itself has ended the request. Its code replaces the one that the call then fails with. */
  let cut: Cut | undefined;
  let isWebSocket = false;
  let isEventStream = false;
  const codeOf = (code: FailureCode) => (cut ? cuts[cut] : (failures[code] ?? code));
  // A call that is cancelled fails with `client_gone`; `codeOf` gives the client the code of `cut` instead.
  const cancel = () => transfer?.cancel('client_gone');
  const end = (why: Cut) => {
    cut ??= why;
    if (why === 'limit') onFull();
    // Events and WebSockets end in order. Any other body that ends so would seem complete.
    if (isWebSocket || isEventStream) transfer?.finish(closings[why]);
    else cancel();
  };
  const observe = ({ outcome }: UpstreamCall) => {
    const by = outcome === 'answered' ? undefined : outcome;
    const passed = isWebSocket ? transfer?.webSocketSummary : undefined;
    ctx.state.ended = cut ?? (by && ends[by]) ?? passed?.endedFirst ?? 'upstream';
    ctx.state.webSocket = passed && { received: passed.received, sent: passed.sent };
    // The response may have begun: then, nothing else says that it is not complete.
    if (by) ctx.state.failure = codeOf(by);
  };
  return async (request) => {
    try {
      transfer = streams.pass({ ...stream, end }, { ...request, ...source, webSocket }, observe);
      // A reload may have ended the request before it began.
      if (cut !== undefined) cancel();
      const response = await transfer.response;
      isWebSocket = response.status === 101;
      const { 'content-type': type = '', 'content-length': length } = response.headers;
      isEventStream = length === undefined && /^text\/event-stream\b/i.test(type);
      return response;
    } catch (error) {
      if (!(error instanceof RelayError)) throw error;
      if (error.code === 'overloaded') onFull();
      // Without a call, `observe` has recorded nothing.
      ctx.state.ended ??= ends[error.code];
      throw new RelayError(codeOf(error.code));
    }
  };
}

/** What the server learns of the person, with names in lower case: a header that is unknown is left out. */
function identityOf(opened: AccessTokenContent): Readonly<Record<string, string>> {
  const known = Object.entries(identityHeaders(opened)).filter(([, value]) => value !== '');
  return Object.fromEntries(known.map(([name, value]) => [name.toLowerCase(), value]));
}

/**
 * The provider's token, which the resource's token holds.
 *
 * @throws {RelayError} `resource_token_expired` if it holds none, because the resource was not configured to pass it on
 *   when the token was issued; `token_malformed` if a header cannot carry it
 */
function requireCredentials({ providerToken }: AccessTokenContent): string {
  if (providerToken === undefined) throw new RelayError('resource_token_expired');
  if (!isCredential(providerToken)) throw new RelayError('token_malformed');
  return `Bearer ${providerToken}`;
}
