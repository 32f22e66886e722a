import type { Middleware, ParameterizedContext } from 'koa';
import type { FailureCode, FieldFault } from '../failures/relay-error.ts';
import { expectFewParameters, parseQuery, type Query } from '../oauth/query.ts';
import type { ProviderErrorCode } from '../providers/error-codes.ts';
import type { ObserveCall, UpstreamCall } from '../upstream/messages.ts';

/** The purpose of a request. Each endpoint has one. */
export type Action =
  | 'home'
  | 'start'
  | 'callback'
  | 'consent'
  | 'token'
  | 'revoke'
  | 'register'
  | 'introspect'
  | 'check'
  | 'check-answer'
  | 'door-callback'
  | 'door-choose'
  | 'door-login'
  | 'door-logout'
  | 'door-user'
  | 'gateway'
  | 'metadata'
  | 'resource-metadata'
  | 'user'
  | 'session'
  | 'session-refresh'
  | 'logout'
  | 'proxy'
  | 'client'
  | 'probe';

/** The state that the middleware of a request share. The record of the request is made from it. */
export interface RequestState {
  requestId: string;
  query?: Query;
  /** The cookies of the relay, each name with all its values. */
  cookies?: ReadonlyMap<string, readonly string[]>;
  /** Sends the body of another server's response. */
  sendBody?: () => void;
  /** The purpose of the request, which the row of its endpoint names. Undefined at an unknown address. */
  action?: Action | undefined;
  /** The name of the endpoint, in the log and in metrics. */
  route?: string | undefined;
  registration?: string | undefined;
  frontEnd?: string | undefined;
  resource?: string | undefined;
  /** By which a door opened: the cookie or token of a person, or the token of a machine. */
  by?: 'cookie' | 'token' | 'machine' | undefined;
  /** Set if a browser at a resource is redirected to the login. */
  startsLogin?: true;
  person?: string | undefined;
  failure?: FailureCode;
  /** Who ended a response through the gateway, or why the relay ended it. */
  ended?: 'upstream' | 'client' | 'token_end' | 'logout' | 'stop' | 'reload' | 'limit' | undefined;
  /** The bytes that came from the client of a WebSocket, and those that it got. */
  webSocket?: { readonly received: number; readonly sent: number } | undefined;
  /** The refused value, abbreviated, such as an unknown redirect URI. */
  asked?: string | undefined;
  /** The values that the request could have had instead. */
  known?: readonly string[] | undefined;
  /** The address of a proxy that did not say which request it asks about; `unix` behind a Unix socket. */
  peer?: string | undefined;
  /** The fields of the person's record that are missing or unusable, without their values. */
  fields?: readonly FieldFault[] | undefined;
  /** The stack frames of an unexpected error, without its message. */
  stack?: string | undefined;
  providerCall?: UpstreamCall;
  /** What the provider's answers say about the rules of `allow`; unchecked if it did not answer. */
  access?: 'allowed' | 'refused' | 'unchecked' | undefined;
  /** The `allow` of the configuration that refused the person. */
  refusedBy?: string | undefined;
  /** The provider's own error code, from its token response or from the query of the callback. */
  providerError?: ProviderErrorCode | undefined;
  /** Set if the state check let a callback without a state pass. */
  excused?: true | undefined;
  /** Whether a program started the login: a probe, a crawler, or `login-relay check`. */
  isProbe?: true | undefined;
  grant?: 'authorization_code' | 'refresh_token' | 'client_credentials' | undefined;
  /** Set once the authorization code may be spent, so that opening the callback again would fail. */
  codeMayBeSpent?: true;
  /** Whether the callback can be opened again after its failure. */
  callbackMayBeRetried?: boolean;
}

export type Context = ParameterizedContext<RequestState>;

export type Handler = Middleware<RequestState>;

/** Composes handlers into one that runs them in order. This happens once, and not for each request. */
export function inOrder(...handlers: readonly Handler[]): Handler {
  return handlers.reduceRight((following, handler) => (ctx, next) => handler(ctx, () => following(ctx, next)));
}

/** Parses the query. @throws {RelayError} `parameters_too_many` */
export function readQuery(ctx: Context): Query {
  expectFewParameters(ctx.querystring);
  return truncatedQuery(ctx);
}

/**
 * The first 100 parameters of the query. Unlike `readQuery`, it never throws, so that even a refusal can be answered at
 * the front end that the query names.
 */
export function truncatedQuery({ state, querystring }: Context): Query {
  state.query ??= parseQuery(querystring);
  return state.query;
}

/** Returns an observer that records a call to the provider with the request that caused it. */
export function recordCall(ctx: Context): ObserveCall {
  return (call) => {
    ctx.state.providerCall = call;
  };
}

/** Returns a signal that aborts if the client hangs up before it has the whole response. */
export function clientGoneSignal({ res }: Context): AbortSignal {
  const gone = new AbortController();
  const onClose = () => {
    if (!res.writableFinished) gone.abort();
  };
  // The caller may already be gone.
  if (res.closed) onClose();
  // This must run before the request is recorded, so that the record contains the call that it aborts.
  else res.prependOnceListener('close', onClose);
  return gone.signal;
}
