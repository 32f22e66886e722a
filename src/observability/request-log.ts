import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import { elapsedSince } from '../clock.ts';
import type { FailureCode } from '../failures/relay-error.ts';
import type { Context, RequestState } from '../http/context.ts';
import type { UpstreamCall } from '../upstream/messages.ts';
import { hasFailed, isOfLogin } from './request-effect.ts';

const clientClosedRequest = 499;

/** Parts of a request's state that its record leaves out or renames. */
type Unshared =
  | 'query'
  | 'route'
  | 'startsLogin'
  | 'failure'
  | 'providerCall'
  | 'codeMayBeSpent'
  | 'callbackMayBeRetried';

/**
 * The record of a request, from which the log line and the metrics are made. It contains nothing from a query, a header
 * or a body, except a shortened unknown value.
 */
export interface RequestRecord extends Readonly<Omit<RequestState, Unshared>> {
  readonly clientAddress: string | undefined;
  readonly method: string;
  /** The route's pattern or name; null if no route matches. */
  readonly route: string | null;
  /** The status of the response; 499, as in nginx, if the caller hung up before. */
  readonly status: number;
  /** Until the response was sent or the caller hung up. */
  readonly durationMs: number;
  /** `login_started` if a browser at a resource was redirected to the login. */
  readonly outcome: 'ok' | 'login_started' | FailureCode;
  readonly provider: UpstreamCall | undefined;
}

/**
 * Passes the record of each request to every observer, once the request is handled and the response has ended.
 *
 * @param named whether records name registration and front end, if there are several, and people
 */
export function recordRequests(
  observers: readonly ((record: RequestRecord) => void)[],
  clientAddress: (request: IncomingMessage) => string | undefined,
  named: Readonly<Record<'registration' | 'frontEnd' | 'person', boolean>>,
): Middleware<RequestState> {
  return (ctx, next) => {
    const start = performance.now();
    // After the caller has hung up, the socket no longer has its address.
    const address = clientAddress(ctx.req);
    let closed: Pick<RequestRecord, 'status' | 'durationMs' | 'outcome'> | undefined;
    let isHandled = false;

    /** Makes the record once both the response and the handlers have ended. */
    function record(): void {
      if (closed === undefined || !isHandled) return;
      const { state } = ctx;
      const line: RequestRecord = {
        requestId: state.requestId,
        clientAddress: address,
        action: state.action,
        method: ctx.method,
        route: state.route ?? null,
        registration: named.registration ? state.registration : undefined,
        frontEnd: named.frontEnd ? state.frontEnd : undefined,
        resource: state.resource,
        by: state.by,
        person: named.person ? state.person : undefined,
        ...closed,
        ended: state.ended,
        webSocket: state.webSocket,
        provider: state.providerCall,
        providerError: state.providerError,
        access: state.access,
        refusedBy: state.refusedBy,
        fields: state.fields,
        excused: state.excused,
        isProbe: state.isProbe,
        grant: state.grant,
        asked: state.asked,
        stack: state.stack,
      };
      for (const observe of observers) observe(line);
    }

    function onClose(): void {
      closed = {
        status: ctx.res.headersSent ? ctx.res.statusCode : clientClosedRequest,
        durationMs: elapsedSince(start),
        outcome: outcomeOf(ctx),
      };
      record();
    }

    // The caller may already be gone.
    if (ctx.res.closed) onClose();
    else ctx.res.once('close', onClose);
    return next().finally(() => {
      isHandled = true;
      record();
    });
  };
}

function outcomeOf({ res, state }: Context): RequestRecord['outcome'] {
  if (state.failure !== undefined) return state.failure;
  if (!isAnswered(res)) return 'client_gone';
  return state.startsLogin ? 'login_started' : 'ok';
}

/** Whether the whole response was written. Node.js 22 also reports a broken response as finished. */
function isAnswered(response: ServerResponse): boolean {
  return response.writableFinished && response.errored === null;
}

const excusedWarning =
  'A callback without a state was accepted, because it has no sign of a browser. ' +
  'A proxy that strips headers removes these signs. --state-check always refuses such callbacks.';

/** Logs one line per request, and a warning before the first request that was excused from the state check. */
export function requestLog(logger: Logger): (record: RequestRecord) => void {
  let excusedBefore = false;
  return (record) => {
    if (record.excused && !excusedBefore) {
      excusedBefore = true;
      logger.warn(excusedWarning);
    }
    const { isProbe: _, ...line } = record;
    logger[levelOf(record)](line, 'request');
  };
}

/** The contract answers these with 400, but only the operator can repair them. */
const operatorsFaults: ReadonlySet<RequestRecord['outcome']> = new Set(['client_refused', 'redirect_uri_refused']);

/** Outcomes of requests that got their whole answer, and did not fail. */
const wholeOutcomes: ReadonlySet<RequestRecord['outcome']> = new Set(['ok', 'login_started']);

function levelOf(record: RequestRecord) {
  const { action, status, outcome } = record;
  // Probes come every few seconds. Metrics count them.
  if (action === 'probe') return 'debug';
  // A proxy asks before each request to a resource, and logs those itself. Metrics count them.
  if (action === 'check' && outcome === 'ok' && status === 204) return 'debug';
  // A provider's API may answer 5xx, which is no error of the relay; and any page can make a browser prefetch.
  if (status >= 500 && outcome !== 'ok' && outcome !== 'prefetch_refused') return 'error';
  // The caller or the relay ended the response on purpose.
  if (record.ended && record.ended !== 'upstream' && status < 400) return 'info';
  // The failure came after the status: the response broke off, or says that a token is not active.
  const isBrokenOff = status < 400 && !wholeOutcomes.has(outcome) && outcome !== 'client_gone';
  // A server asks about any token that strangers send to it.
  if (action === 'introspect' && isBrokenOff) return 'info';
  if (operatorsFaults.has(outcome)) return 'error';
  const isFailedLogin = isOfLogin(action) && hasFailed(record);
  return isFailedLogin || isBrokenOff ? 'warn' : 'info';
}
