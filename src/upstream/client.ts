import type { LookupFunction } from 'node:net';
import got from 'got';
import { elapsedSince } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import { userAgent } from '../version.ts';
import { Attempt, type Call } from './attempt.ts';
import { createConnectionPool, openRequest, type ProxyEnvironment } from './connection-pool.ts';
import type { ObserveCall, StreamedRequest, UpstreamRequest, UpstreamResponse } from './messages.ts';
import { waitForHead, waitUntil, waitWithin } from './patience.ts';
import { createRoom, type Endpoint } from './room.ts';
import { Transfer } from './transfer.ts';

export type UpstreamClient = ReturnType<typeof createUpstreamClient>;

const defaultHeaders = { 'user-agent': userAgent, accept: 'application/json', 'accept-encoding': 'identity' };

/** The differences between streamed calls to a provider's API and to servers behind the gateway. */
const transfers = {
  api: { mostBytes: limits.apiResponseSize, wait: waitWithin, headers: defaultHeaders, headSize: undefined },
  resource: {
    mostBytes: Number.POSITIVE_INFINITY,
    wait: waitForHead,
    headers: {},
    headSize: limits.streamHeadSize,
  },
} as const;

/**
 * Creates the HTTP client for all calls to a provider, or for those to the servers behind the gateway.
 *
 * @param settings.timeout milliseconds for a whole call, body included
 * @param settings.concurrentCalls calls in flight. Further ones are refused, never queued. A part is kept for logins,
 *   and a part for user lookups
 * @param settings.answerSize bytes of a response
 * @param settings.to the destination of streamed calls
 */
export function createUpstreamClient(settings: {
  readonly timeout: number;
  readonly concurrentCalls: number;
  readonly proxy?: ProxyEnvironment;
  readonly answerSize?: number;
  readonly lookup?: LookupFunction;
  readonly to?: keyof typeof transfers;
}) {
  const { timeout, concurrentCalls, proxy = {}, lookup, to = 'api' } = settings;
  const { answerSize = limits.providerAnswerSize } = settings;
  const pool = createConnectionPool(concurrentCalls, proxy, lookup);
  const { mostBytes, wait, headers: ownHeaders, headSize } = transfers[to];
  const common = got.extend({
    headers: defaultHeaders,
    followRedirect: false,
    throwHttpErrors: false,
    // got copies each list of its options for each call.
    retry: { limit: 0, methods: [], statusCodes: [], errorCodes: [] },
    request: openRequest,
  });
  // The second attempt is for a kept connection that has died while idle.
  const instances = [pool.pooled, pool.unpooled].map((agent) => common.extend({ agent }));
  const repeatable = [pool.pooled, pool.unpooled];
  // A request that cannot be repeated gets a new connection to an API, which may be far away and close idle ones at any
  // time.
  const once = [to === 'resource' ? pool.brief : pool.unpooled];
  // Nothing comes back of it.
  const toSwitch = [pool.unpooled];
  const room = createRoom(concurrentCalls, to);

  /** Makes the attempts at a call. @param deadline milliseconds, on the clock of `performance` */
  async function make(call: Call, deadline: number): Promise<UpstreamResponse> {
    try {
      await pool.settled();
      for (const instance of instances) {
        // The deadline may have passed while the machine was paused. Do not spend the code for a caller who got a
        // timeout.
        if (performance.now() >= deadline) throw new RelayError('provider_timeout');
        const response = await new Attempt(instance, call, pool).result;
        if (response !== 'died_while_idle') return response;
      }
      throw new RelayError('provider_unreachable');
    } catch (error) {
      call.end(error instanceof RelayError ? error.code : 'internal_error');
      throw error;
    }
  }

  return {
    /**
     * Makes one call. Redirects are not followed, but returned like any other response.
     *
     * @throws {RelayError} `provider_unreachable`, `provider_timeout`, `provider_answer_unusable` (over 1 MiB,
     *   decompressed), `overloaded` or `client_gone` (cancelled). The error never contains the request.
     */
    async call(request: UpstreamRequest, observe: ObserveCall): Promise<UpstreamResponse> {
      const { endpoint } = request;
      const deadline = performance.now() + timeout;
      const call: Call = {
        request,
        mostBytes: answerSize,
        wait: (giveUp) => waitUntil(deadline, giveUp),
        ...startCall(endpoint, room.take(endpoint), observe),
      };
      return await make(call, deadline);
    },
    /**
     * Begins one call with streamed bodies, which lasts until the last byte of the response has arrived. Nothing
     * happens before the caller has the transfer.
     *
     * @throws {RelayError} `overloaded`
     */
    stream({ holder, end, ...request }: StreamedRequest, observe: ObserveCall): Transfer {
      const leave = room.takeFor({
        ...holder,
        pace: () => transfer.pace(),
        giveWay: end ?? (() => transfer.cancel('overloaded')),
      });
      const call = {
        request: { ...request, headers: { ...ownHeaders, ...request.headers } },
        mostBytes,
        headSize,
        attempts: request.webSocket ? toSwitch : isRepeatable(request) ? repeatable : once,
        wait: wait.bind(undefined, timeout),
        ...startCall(to, leave, observe),
      };
      const transfer = new Transfer(call, pool);
      return transfer;
    },
    /** Throws `overloaded` if no call may be made now. A call in the same tick will not be refused. */
    expectRoom: room.expect,
    inFlight: room.inFlight,
    close: pool.close,
  };
}

/** Whether a request can be repeated after an attempt that the server may have seen. @see RFC 9110 §9.2.2 */
function isRepeatable({ method, body }: Pick<StreamedRequest, 'method' | 'body'>): boolean {
  return body === undefined && method !== 'POST' && method !== 'PATCH';
}

/** Starts the record of a call. @param leave gives the call's place back */
function startCall(endpoint: Endpoint, leave: () => void, observe: ObserveCall): Pick<Call, 'onSending' | 'end'> {
  const start = performance.now();
  let isSent = false;
  let isOver = false;
  return {
    onSending() {
      isSent = true;
    },
    end(outcome, status, error) {
      if (isOver) return;
      isOver = true;
      leave();
      const details = { ...(status && { status }), ...(error && { error }) };
      observe({ endpoint, outcome, ...details, durationMs: elapsedSince(start) }, isSent);
    },
  };
}
