import type { LookupFunction } from 'node:net';
import got from 'got';
import { elapsedSince } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import { userAgent } from '../version.ts';
import { Attempt, type Call } from './attempt.ts';
import { createRoom, type Endpoint } from './concurrency.ts';
import { type Agents, createConnectionPool, openRequest, type ProxyEnvironment } from './connection-pool.ts';
import type { ObserveCall, StreamedRequest, UpstreamRequest, UpstreamResponse } from './messages.ts';
import { startApiTimeout, startDeadline, startGatewayTimeout } from './timeouts.ts';
import { Transfer } from './transfer.ts';

export type UpstreamClient = ReturnType<typeof createUpstreamClient>;

const defaultHeaders = { 'user-agent': userAgent, accept: 'application/json', 'accept-encoding': 'identity' };

/** The rules of streamed calls, which differ between a provider's API and a server behind the gateway. */
const streamRules = {
  api: {
    mostBytes: limits.apiResponseSize,
    startTimeout: startApiTimeout,
    headers: defaultHeaders,
    // The limit of Node.js.
    headSize: undefined,
  },
  resource: {
    mostBytes: Number.POSITIVE_INFINITY,
    startTimeout: startGatewayTimeout,
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
 * @param settings.destination the destination of streamed calls
 */
export function createUpstreamClient(settings: {
  readonly timeout: number;
  readonly concurrentCalls: number;
  readonly proxy?: ProxyEnvironment;
  readonly answerSize?: number;
  readonly lookup?: LookupFunction;
  readonly destination?: keyof typeof streamRules;
}) {
  const { timeout, concurrentCalls, proxy = {}, lookup, destination = 'api' } = settings;
  const { answerSize = limits.providerAnswerSize } = settings;
  const pool = createConnectionPool(concurrentCalls, proxy, lookup);
  const { mostBytes, startTimeout, headers: ownHeaders, headSize } = streamRules[destination];
  const instance = got.extend({
    headers: defaultHeaders,
    followRedirect: false,
    throwHttpErrors: false,
    // got copies each list of its options for each call.
    retry: { limit: 0, methods: [], statusCodes: [], errorCodes: [] },
    request: openRequest,
  });
  // The second attempt is for a kept connection that has died while idle.
  const repeatableAttempts = [pool.pooled, pool.unpooled];
  const instances = repeatableAttempts.map((agent) => instance.extend({ agent }));
  // A request that cannot be repeated must not meet a connection that died while idle. An API may be far away and close
  // idle connections at any time, so each request gets a new one.
  const singleAttempt = [destination === 'resource' ? pool.brief : pool.unpooled];
  // The connection of a WebSocket never returns to a pool.
  const webSocketAttempt = [pool.unpooled];
  const room = createRoom(concurrentCalls, destination);

  /** Returns the agents of each attempt, in order. */
  function agentsForAttempts(request: Omit<StreamedRequest, 'holder' | 'evict'>): readonly Agents[] {
    if (request.webSocket) return webSocketAttempt;
    return isRepeatable(request) ? repeatableAttempts : singleAttempt;
  }

  /**
   * Makes one attempt, or a second one if the provider never got the request of the first. So even the request that
   * spends an authorization code can have two.
   *
   * @param deadline milliseconds, on the clock of `performance`
   */
  async function makeAttempts(call: Call, deadline: number): Promise<UpstreamResponse> {
    try {
      // Bytes that arrived on an idle connection would be taken for the response.
      await pool.dropPoisonedConnections();
      for (const withAgent of instances) {
        // The deadline may have passed while the machine was paused. A request now would spend the authorization code
        // for a caller who has got a timeout.
        if (performance.now() >= deadline) throw new RelayError('provider_timeout');
        const response = await new Attempt(withAgent, call, pool).result;
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
        startTimeout: (giveUp) => startDeadline(deadline, giveUp),
        ...startRecord(endpoint, room.take(endpoint), observe),
      };
      return await makeAttempts(call, deadline);
    },
    /**
     * Begins one call with streamed bodies, which lasts until the last byte of the response has arrived. The first
     * attempt starts only after the caller has the transfer.
     *
     * @throws {RelayError} `overloaded`
     */
    stream({ holder, evict, ...request }: StreamedRequest, observe: ObserveCall): Transfer {
      const freeRoom = room.takeForTransfer({
        ...holder,
        pace: () => transfer.pace(),
        evict: evict ?? (() => transfer.cancel('overloaded')),
      });
      const call = {
        request: { ...request, headers: { ...ownHeaders, ...request.headers } },
        mostBytes,
        headSize,
        attempts: agentsForAttempts(request),
        startTimeout: startTimeout.bind(undefined, timeout),
        ...startRecord(destination, freeRoom, observe),
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

/** Starts the record of a call, which is observed at its end. @param freeRoom called at its end */
function startRecord(endpoint: Endpoint, freeRoom: () => void, observe: ObserveCall): Pick<Call, 'onSending' | 'end'> {
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
      freeRoom();
      const details = { ...(status && { status }), ...(error && { error }) };
      observe({ endpoint, outcome, ...details, durationMs: elapsedSince(start) }, isSent);
    },
  };
}
