import type { Middleware, ParameterizedContext } from 'koa';
import type { FailureCode, FieldFault } from '../failures/relay-error.ts';
import { expectFewParameters, parseQuery, type Query } from '../oauth/query.ts';
import type { ProviderErrorCode } from '../providers/refusals.ts';
import type { ObserveCall, UpstreamCall } from '../upstream/messages.ts';

/** What a request is for. Its endpoint says it, once. */
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

/** What the middleware of one request share. The request log is written from it alone. */
export interface RequestState {
  requestId: string;
  query?: Query;
  /** Undefined: the relay has no such address. */
  action?: Action | undefined;
  /** The name of the endpoint, in the log and in metrics. */
  route?: string | undefined;
  registration?: string | undefined;
  frontEnd?: string | undefined;
  /** The resource that a token is for. */
  resource?: string | undefined;
  /** What has opened the resource: the token of a person, or of a machine. */
  by?: 'token' | 'machine' | undefined;
  person?: string | undefined;
  failure?: FailureCode;
  /** Who has ended a response that passed the gateway, or why the relay has. */
  ended?: 'upstream' | 'client' | 'token_end' | 'logout' | 'stop' | 'reload' | 'limit' | undefined;
  /** What the failure says was asked for. */
  asked?: string | undefined;
  /** The fields of the person at the provider that say nothing, or not enough: never their values. */
  fields?: readonly FieldFault[] | undefined;
  /** Where an unexpected error was thrown: stack frames, without its message. */
  stack?: string | undefined;
  providerCall?: UpstreamCall;
  /** Whether the person may log in, if somebody asks. */
  access?: 'allowed' | 'refused' | 'unchecked' | undefined;
  /** The `allow` of the configuration that refuses the person. */
  refusedBy?: string | undefined;
  /** The provider's own error code, from its token response or from the address of the callback. */
  providerError?: ProviderErrorCode | undefined;
  /** Set for a callback that was excused from the state check. */
  excused?: true | undefined;
  /** Set for a start that no browser has opened: one of a probe, a crawler, or `login-relay check`. */
  isProbe?: true | undefined;
  grant?: 'authorization_code' | 'refresh_token' | 'client_credentials' | undefined;
  /** Set once an authorization code may be spent: opening the callback again would fail. */
  codeMayBeSpent?: true;
  /** Whether the login of a callback stays open after a failure. */
  callbackMayBeRetried?: boolean;
}

/** What every handler gets. */
export type Context = ParameterizedContext<RequestState>;

/** Handles requests, or lets the next handler do so. */
export type Handler = Middleware<RequestState>;

/** One handler that runs several: composed once, not for each request. */
export function inOrder(...handlers: readonly Handler[]): Handler {
  return handlers.reduceRight((following, one) => (ctx, next) => one(ctx, () => following(ctx, next)));
}

/** The parameters of a request. @throws {RelayError} `parameters_too_many` */
export function readQuery(ctx: Context): Query {
  expectFewParameters(ctx.querystring);
  return claimedQuery(ctx);
}

/** The first 100 parameters of a request, for the answer to one that may be refused. */
export function claimedQuery({ state, querystring }: Context): Query {
  state.query ??= parseQuery(querystring);
  return state.query;
}

/** Puts a call to the provider into the record of the request that it is for. */
export function recordCall(ctx: Context): ObserveCall {
  return (call) => {
    ctx.state.providerCall = call;
  };
}

/** Aborts when the caller hangs up before the response is sent. */
export function clientGone({ res }: Context): AbortSignal {
  const gone = new AbortController();
  const onClose = () => {
    if (!res.writableFinished) gone.abort();
  };
  // The caller may already be gone.
  if (res.closed) onClose();
  // Before the request is recorded: the record has the call that this ends.
  else res.prependOnceListener('close', onClose);
  return gone.signal;
}
