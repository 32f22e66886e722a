import type { IncomingMessage } from 'node:http';
import { clientResponseHeaders, resourceRequestHeaders } from '../api-proxy/headers.ts';
import { relayedLocation } from '../api-proxy/path.ts';
import { answerHeaders, openingHeaders } from '../api-proxy/websocket.ts';
import { type FailureCode, RelayError } from '../failures/relay-error.ts';
import type { Context, Handler, RequestState } from '../http/context.ts';
import { passedMethods } from '../http/cors.ts';
import { isCredential } from '../oauth/authorization-header.ts';
import type { AccessTokenContent } from '../resources/access-tokens.ts';
import type { Door } from '../resources/door.ts';
import { identityHeaders } from '../resources/identity-headers.ts';
import type { Upstream } from '../resources/resource.ts';
import type { Cut, Stream, StreamSource, Streams } from '../resources/streams.ts';
import type { UpstreamCall, WebSocketOpening } from '../upstream/messages.ts';
import type { Transfer } from '../upstream/transfer.ts';
import { isUnusable, type Passage, passOn, requireTarget } from './pass-on.ts';
import { recordCaller, requireToken } from './protected-resource.ts';
import { closings, requireOpening } from './web-socket.ts';

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
  readonly ownAddressOf: (request: IncomingMessage) => string | undefined;
  /** Called if a request gets no place, or another one ends for its sake. */
  readonly onFull: () => void;
}

/** Passes the requests of those who have a token for a resource to the server behind it, with who they are. */
export function gateway(door: Door, upstream: Upstream, context: GatewayContext): Handler {
  const { streams } = context;
  const { resource } = door;
  const place = new URL(resource.url);
  const way = { path: place.pathname, url: new URL(upstream.url) };

  /** Where a redirect leads, by the address of the server or by that of the resource. */
  const locationOf = (location: string, url: URL) =>
    relayedLocation(location, url, way.url, resource.url) ?? relayedLocation(location, url, place, resource.url);

  function refusalOf(status: number): RelayError | undefined {
    const { givesToken } = upstream;
    // With 401, clients would log in again, for ever.
    if (status === 401) {
      return new RelayError(givesToken ? 'upstream_refused_token' : 'upstream_refused_relay');
    }
    return isUnusable(status) ? new RelayError('upstream_answer_unusable') : undefined;
  }

  return async (ctx: Context) => {
    ctx.state.resource = resource.name;
    const token = requireToken(ctx);
    const opened = await door.open(token);
    recordCaller(ctx, opened);
    const { method } = ctx;
    if (!passedMethods.includes(method)) throw new RelayError('method_not_allowed');
    const webSocket = requireOpening(ctx);
    const url = requireTarget(ctx, way);
    const isListening = method === 'GET' || ctx.get('Mcp-Method') === 'subscriptions/listen';
    // The client of a stream that the stop has ended comes back at once, on the same connection.
    if (isListening && streams.isStopping()) throw new RelayError('not_ready');
    const call = createCall(
      ctx,
      { door, opened, isListening, mayStayAt: (present) => present.isGrantedNow(token) },
      context,
      webSocket,
    );
    await passOn(ctx, {
      method,
      url,
      call,
      refusalOf,
      headers: {
        ...resourceRequestHeaders(ctx.req.headers),
        'x-forwarded-host': place.host,
        'x-forwarded-proto': place.protocol.slice(0, -1),
        'x-request-id': ctx.state.requestId,
        ...identityOf(opened),
        ...(upstream.givesToken && { authorization: requireCredentials(opened) }),
        ...(webSocket && openingHeaders(ctx.req.headers)),
      },
      passed(answered, status) {
        const target = answered.location && locationOf(answered.location, url);
        return {
          ...clientResponseHeaders(answered),
          ...(target && { location: target }),
          ...(webSocket && answerHeaders(answered, status === 101)),
        };
      },
    });
  };
}

/** Makes the call of a request, and records how it ends. */
function createCall(
  ctx: Context,
  stream: Omit<Stream, 'end'>,
  { streams, areSeveral, ownAddressOf, onFull }: GatewayContext,
  webSocket: WebSocketOpening | undefined,
): Passage['call'] {
  const source: StreamSource = { address: ownAddressOf(ctx.req), hasOthers: areSeveral };
  let transfer: Transfer | undefined;
  let cut: Cut | undefined;
  let isWebSocket = false;
  let isEventStream = false;
  const codeOf = (code: FailureCode) => (cut ? cuts[cut] : (failures[code] ?? code));
  const end = (why: Cut) => {
    cut ??= why;
    if (why === 'limit') onFull();
    // Events and WebSockets end in order. Any other body that ends so would seem complete.
    if (isWebSocket || isEventStream) transfer?.finish(closings[why]);
    else transfer?.cancel('client_gone');
  };
  const observe = ({ outcome }: UpstreamCall) => {
    const by = outcome === 'answered' ? undefined : outcome;
    const passed = isWebSocket ? transfer?.passed : undefined;
    ctx.state.ended = cut ?? (by && ends[by]) ?? passed?.endedFirst ?? 'upstream';
    ctx.state.webSocket = passed && { received: passed.received, sent: passed.sent };
    // The response may have begun: then, nothing else says that it is not complete.
    if (by) ctx.state.failure = codeOf(by);
  };
  return async (request) => {
    try {
      transfer = streams.pass({ ...stream, end }, { ...request, ...source, webSocket }, observe);
      // A reload may have ended the request before it began.
      if (cut !== undefined) transfer.cancel('client_gone');
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

/** @throws {RelayError} `resource_token_expired` if the resource did not give the provider's token when it was issued */
function requireCredentials({ providerToken }: AccessTokenContent): string {
  if (providerToken === undefined) throw new RelayError('resource_token_expired');
  if (!isCredential(providerToken)) throw new RelayError('token_malformed');
  return `Bearer ${providerToken}`;
}
