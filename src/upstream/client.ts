import got from 'got';
import { RelayError } from '../errors.ts';
import type { ObserveCall } from './call.ts';
import { CallAttempt, type Outcome } from './call-attempt.ts';
import { createConnectionPool, type ProxyEnvironment } from './connection-pool.ts';
import type { UpstreamRequest, UpstreamResponse } from './messages.ts';
import { openRequest } from './open-request.ts';
import { createRoom, type Endpoint } from './room.ts';
import type { StreamedRequest, StreamedResponse } from './streamed-messages.ts';
import { createStreaming } from './streaming.ts';

/** Calls the provider within limits of time, size and number. */
export interface UpstreamClient {
  /**
   * Makes one call. Redirects are not followed: a 3xx is returned like any other response.
   *
   * @throws {RelayError} `provider_unreachable`, `provider_timeout`, `provider_answer_unusable`
   *   (over 1 MiB, decompressed), `overloaded` or `client_gone` (cancelled). The error never holds the request.
   */
  call(request: UpstreamRequest, observe: ObserveCall): Promise<UpstreamResponse>;
  /**
   * Makes one call whose bodies are streamed. It is in flight until the last byte of the response has arrived.
   *
   * @throws {RelayError} as `call` does, or `upload_too_large`. After that, the body fails with such an error
   */
  stream(request: StreamedRequest, observe: ObserveCall): Promise<StreamedResponse>;
  /**
   * Checks that a call may be made now. A call that follows in the same tick is not refused.
   *
   * @throws {RelayError} `overloaded`
   */
  expectRoom(endpoint: Endpoint): void;
  /** The number of calls in flight. */
  inFlight(): number;
  /** Closes all connections. */
  close(): void;
}

/**
 * Creates the client that all calls of a relay share.
 *
 * @param within.timeout milliseconds that a whole call may take, body included
 * @param within.concurrentCalls calls that may be in flight; further ones are refused, never queued.
 *   A part of them is kept for logins, and a part for user lookups.
 * @param proxy the HTTP proxy, and the hosts that are called directly
 */
export function createUpstreamClient(
  userAgent: string,
  within: { readonly timeout: number; readonly concurrentCalls: number },
  proxy: ProxyEnvironment = {},
): UpstreamClient {
  const pool = createConnectionPool(within.concurrentCalls, proxy);
  const instance = got.extend({
    headers: {
      'user-agent': userAgent,
      accept: 'application/json',
      'accept-encoding': 'identity',
    },
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
    request: openRequest,
  });
  const pooled = instance.extend({ agent: pool.pooled });
  const unpooled = instance.extend({ agent: pool.unpooled });
  const room = createRoom(within.concurrentCalls);

  async function attempts(
    request: UpstreamRequest,
    deadline: number,
    onSending: () => void,
  ): Promise<Outcome> {
    await pool.settled();
    for (const by of [pooled, unpooled]) {
      const left = deadline - performance.now();
      // After a VM pause the deadline may already be over. Don't spend the code for a caller who got a
      // timeout.
      if (left <= 0) return { failure: 'provider_timeout' };
      const outcome = await new CallAttempt(by, request, pool, left, onSending).result;
      if (outcome !== 'died_while_idle') return outcome;
    }
    return { failure: 'provider_unreachable' };
  }

  return {
    async call(request, observe) {
      const start = performance.now();
      const { endpoint } = request;
      const leave = room.take(endpoint);
      let sent = false;
      const onSending = () => {
        sent = true;
      };
      const result = await attempts(request, start + within.timeout, onSending).finally(leave);
      const durationMs = performance.now() - start;
      if ('answer' in result) {
        const { status } = result.answer;
        observe({ endpoint, outcome: 'answered', sent: true, status, durationMs });
        return result.answer;
      }
      const { failure, ...why } = result;
      observe({ endpoint, outcome: failure, sent, ...why, durationMs });
      throw new RelayError(failure);
    },
    stream: createStreaming({ pooled, unpooled, pool, room, timeout: within.timeout }),
    expectRoom: room.expect,
    inFlight: room.inFlight,
    close: pool.close,
  };
}
