import type { LookupFunction } from 'node:net';
import { PassThrough } from 'node:stream';
import got from 'got';
import { elapsedSince } from '../clock.ts';
import { RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import { userAgent } from '../version.ts';
import { Attempt, type Call } from './attempt.ts';
import { createConnectionPool, openRequest, type ProxyEnvironment } from './connection-pool.ts';
import type { ObserveCall, StreamedRequest, StreamedResponse, UpstreamRequest, UpstreamResponse } from './messages.ts';
import { type TransferPatience, waitForHead, waitUntil, waitWithin } from './patience.ts';
import { createRoom, type Endpoint } from './room.ts';

/** Calls the provider within limits of time, size and number. */
export type UpstreamClient = ReturnType<typeof createUpstreamClient>;

/** What differs between bodies of a provider's API and of servers behind the gateway. */
const transfers = {
  api: {
    mostBytes: limits.apiResponseSize,
    wait: waitWithin,
    defaults: {
      headers: {
        'user-agent': userAgent,
        accept: 'application/json',
        'accept-encoding': 'identity',
      },
    },
  },
  resource: {
    mostBytes: Number.POSITIVE_INFINITY,
    wait: waitForHead,
    defaults: { headers: { 'user-agent': undefined }, maxHeaderSize: limits.streamHeadSize },
  },
} as const;

/**
 * Creates the HTTP client that all calls to a provider share, or those to the servers behind the gateway.
 *
 * @param settings.timeout milliseconds that a whole call may take, body included
 * @param settings.concurrentCalls calls that may be in flight; further ones are refused, never queued.
 *   A part of them is kept for logins, and a part for user lookups.
 * @param settings.answerSize bytes that a response may have
 * @param settings.to what bodies are streamed to
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
  const { mostBytes, wait, defaults } = transfers[to];
  const common = got.extend({
    ...defaults,
    followRedirect: false,
    throwHttpErrors: false,
    // got copies each list of its options for each call.
    retry: { limit: 0, methods: [], statusCodes: [], errorCodes: [] },
    request: openRequest,
  });
  const pooled = common.extend({ agent: pool.pooled });
  const unpooled = common.extend({ agent: pool.unpooled });
  // A body cannot be sent again. An API may be far away, and close a connection at any time: each body has a new one.
  const forBodies = to === 'resource' ? common.extend({ agent: pool.brief }) : unpooled;
  const room = createRoom(concurrentCalls, to);

  /** Makes the attempts at a call. @param deadline milliseconds, on the clock of `performance` */
  async function make(call: Call, deadline = Infinity): Promise<UpstreamResponse> {
    try {
      await pool.settled();
      // The second instance is for a kept connection that has died while idle. A streamed body can be sent only once.
      const instances = typeof call.request.body === 'object' ? [forBodies] : [pooled, unpooled];
      for (const instance of instances) {
        // After a pause of the machine, it may have passed. Don't spend the code for a caller who got a timeout.
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
     * Makes one call. Redirects are not followed: a 3xx is returned like any other response.
     *
     * @throws {RelayError} `provider_unreachable`, `provider_timeout`, `provider_answer_unusable`
     *   (over 1 MiB, decompressed), `overloaded` or `client_gone` (cancelled). The error never holds the request.
     */
    async call(request: UpstreamRequest, observe: ObserveCall): Promise<UpstreamResponse> {
      const { endpoint } = request;
      const deadline = performance.now() + timeout;
      const call: Call = {
        request,
        mostBytes: answerSize,
        wait: (_, giveUp) => waitUntil(deadline, giveUp),
        ...startCall(endpoint, room.take(endpoint), observe),
      };
      return await make(call, deadline);
    },
    /**
     * Makes one call whose bodies are streamed. It is in flight until the last byte of the response has arrived.
     *
     * @throws {RelayError} as `call` does, or `upload_too_large`. After that, the body fails with such an error
     */
    async stream({ holder, end, ...request }: StreamedRequest, observe: ObserveCall): Promise<StreamedResponse> {
      // Both are of the attempt, which starts after room is taken.
      let patience: TransferPatience | undefined;
      let giveWay = () => {};
      const download = new PassThrough();
      // It may fail before the caller reads it. Without a listener, that would end the process.
      download.on('error', () => {});
      const leave = room.takeFor({
        ...holder,
        pace: () => patience?.pace() ?? limits.apiOrdinaryPace,
        giveWay: end ?? (() => giveWay()),
      });
      const head = await make({
        request,
        download,
        mostBytes,
        wait(clientsTurn, giveUp) {
          giveWay = () => giveUp('overloaded');
          patience = wait(timeout, clientsTurn, giveUp);
          return patience;
        },
        ...startCall(to, leave, observe),
      });
      return { ...head, body: download };
    },
    /** Throws `overloaded` if no call may be made now. A call that follows in the same tick is not refused. */
    expectRoom: room.expect,
    inFlight: room.inFlight,
    close: pool.close,
  };
}

/** Starts the record of a call. @param leave gives the room of the call back */
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
