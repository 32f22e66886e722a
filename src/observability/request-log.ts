import type { ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import { elapsedSince } from '../clock.ts';
import type { FailureCode } from '../failures/relay-error.ts';
import { unixSocketWord } from '../http/client-address.ts';
import type { Context, RequestState } from '../http/context.ts';
import type { UpstreamCall } from '../upstream/messages.ts';
import type { createLoggedAddresses } from './logged-address.ts';
import { concernsLogin, hasFailed } from './request-effect.ts';

const clientClosedRequest = 499;

/** The parts of a request's state that its record leaves out or renames. */
type UnrecordedState =
  | 'query'
  | 'cookies'
  | 'sendBody'
  | 'route'
  | 'startsLogin'
  | 'failure'
  | 'providerCall'
  | 'codeMayBeSpent'
  | 'callbackMayBeRetried';

/**
 * The record of a request, from which the log line and the metrics are made. It repeats no text of the query, the
 * headers or the body, except the beginning of a value that the relay does not know.
 */
export interface RequestRecord extends Readonly<Omit<RequestState, UnrecordedState>> {
  readonly clientAddress: string | undefined;
  readonly method: string;
  /** The route's pattern or name; null if no route matches. */
  readonly route: string | null;
  /** The status of the response. As in nginx, it is 499 if the caller hung up before. */
  readonly status: number;
  /** The time until the response was sent or the caller hung up. */
  readonly durationMs: number;
  /** `login_started` if a browser at a resource was redirected to the login. */
  readonly outcome: 'ok' | 'login_started' | FailureCode;
  readonly provider: UpstreamCall | undefined;
}

/**
 * Passes the record of each request to every observer, once the request is handled and the response has ended.
 *
 * @param named whether records name the registration, the front end and the person
 */
export function recordRequests(
  observers: readonly ((record: RequestRecord) => void)[],
  addresses: Pick<ReturnType<typeof createLoggedAddresses>, 'client' | 'neighbour'>,
  named: Readonly<Record<'registration' | 'frontEnd' | 'person', boolean>>,
): Middleware<RequestState> {
  return (ctx, next) => {
    const start = performance.now();
    // Read it now, because the socket loses it when the caller hangs up.
    const address = addresses.client(ctx.req);
    let closed: Pick<RequestRecord, 'status' | 'durationMs' | 'outcome'> | undefined;
    let isHandled = false;

    /** Makes the record if both the response and the handlers have ended. */
    function recordIfEnded(): void {
      if (closed === undefined || !isHandled) return;
      const { state } = ctx;
      const record: RequestRecord = {
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
        known: state.known,
        peer: state.peer === unixSocketWord ? unixSocketWord : addresses.neighbour(state.peer),
        stack: state.stack,
      };
      for (const observe of observers) observe(record);
    }

    function onClose(): void {
      closed = {
        status: ctx.res.headersSent ? ctx.res.statusCode : clientClosedRequest,
        durationMs: elapsedSince(start),
        outcome: decideOutcome(ctx),
      };
      recordIfEnded();
    }

    // The caller may already be gone.
    if (ctx.res.closed) onClose();
    else ctx.res.once('close', onClose);
    return next().finally(() => {
      isHandled = true;
      recordIfEnded();
    });
  };
}

/** Decides the outcome of a request after its end. */
function decideOutcome({ res, state }: Context): RequestRecord['outcome'] {
  if (state.failure !== undefined) return state.failure;
  if (!isCompletelyWritten(res)) return 'client_gone';
  return state.startsLogin ? 'login_started' : 'ok';
}

/** Whether the whole response was written. Node.js 22 also reports a broken response as finished. */
function isCompletelyWritten(response: ServerResponse): boolean {
  return response.writableFinished && response.errored === null;
}

const excusedWarning =
  'A callback without a state was accepted, because it has no sign of a browser. ' +
  'A proxy that strips headers removes these signs. --state-check always refuses such callbacks.';

/** Creates an observer that logs a line for each request, and a warning before the first excused callback. */
export function createRequestLog(logger: Logger): (record: RequestRecord) => void {
  let excusedBefore = false;
  return (record) => {
    if (record.excused && !excusedBefore) {
      excusedBefore = true;
      logger.warn(excusedWarning);
    }
    const level = chooseLevel(record);
    // Most checks are at debug, and not logged. To copy their records would take longer than to count them.
    if (logger.isLevelEnabled(level)) logger[level]({ ...record, isProbe: undefined }, 'request');
  };
}

/** Outcomes that only the operator can repair, although the contract prescribes 400. */
const operatorsFaults: ReadonlySet<RequestRecord['outcome']> = new Set(['client_refused', 'redirect_uri_refused']);

/** Outcomes of requests that got their whole response, and did not fail. */
const wholeOutcomes: ReadonlySet<RequestRecord['outcome']> = new Set(['ok', 'login_started']);

/** Chooses the level at which a request is logged. */
function chooseLevel(record: RequestRecord) {
  const { action, status, outcome } = record;
  // Probes come every few seconds, and metrics count them.
  if (action === 'probe') return 'debug';
  // A proxy asks before each request to a resource, which it logs itself. Metrics count the questions.
  if (action === 'check' && outcome === 'ok' && status === 204) return 'debug';
  // A provider's API may answer 5xx, which is no error of the relay. Any page can make a browser prefetch.
  if (status >= 500 && outcome !== 'ok' && outcome !== 'prefetch_refused') return 'error';
  // The caller or the relay ended the response on purpose.
  if (record.ended && record.ended !== 'upstream' && status < 400) return 'info';
  // The status was good, and the request failed nevertheless: its response broke off, or says that a token is not active.
  const failedAfterStatus = status < 400 && !wholeOutcomes.has(outcome) && outcome !== 'client_gone';
  // Strangers can send any token to a server, which then asks about it.
  if (action === 'introspect' && failedAfterStatus) return 'info';
  if (operatorsFaults.has(outcome)) return 'error';
  const isFailedLogin = concernsLogin(action) && hasFailed(record);
  return isFailedLogin || failedAfterStatus ? 'warn' : 'info';
}
