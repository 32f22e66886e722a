import type { Got } from 'got';
import { RelayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { ObserveCall } from './call.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { Room, Transfer } from './room.ts';
import type { StreamedRequest, StreamedResponse } from './streamed-messages.ts';
import { type StreamedCall, StreamingAttempt } from './streaming-attempt.ts';

/**
 * Creates the streaming of bodies between clients and the provider's API. A slow reader slows down its sender: nothing is
 * kept but the buffers of the streams.
 *
 * @param by.pooled calls on kept connections
 * @param by.unpooled calls on connections of their own
 * @param by.timeout milliseconds that the API may be silent while the relay waits for it
 * @see UpstreamClient.stream
 */
export function createStreaming(by: {
  readonly pooled: Got;
  readonly unpooled: Got;
  readonly pool: ConnectionPool;
  readonly room: Room;
  readonly timeout: number;
}): (request: StreamedRequest, observe: ObserveCall) => Promise<StreamedResponse> {
  const { pooled, unpooled, pool, room, timeout } = by;

  async function attempts(call: StreamedCall): Promise<StreamedResponse> {
    await pool.settled();
    // A body cannot be sent twice, so it needs a new connection: a kept one may have died while idle.
    const isReplayable = call.request.upload === undefined;
    const by = isReplayable ? pooled : unpooled;
    const first = await new StreamingAttempt(by, call, pool, timeout).result;
    if (first !== 'died_while_idle') return first;
    const second = await new StreamingAttempt(unpooled, call, pool, timeout).result;
    if (second !== 'died_while_idle') return second;
    throw new RelayError('provider_unreachable');
  }

  return async (request, observe) => {
    const call = startCall(request, room, observe);
    try {
      return await attempts(call);
    } catch (error) {
      call.end(error instanceof RelayError ? error.code : 'internal_error');
      throw error;
    }
  };
}

/** @throws {RelayError} `overloaded` */
function startCall(request: StreamedRequest, room: Room, observe: ObserveCall): StreamedCall {
  const start = performance.now();
  let sent = false;
  let status: number | undefined;
  let isOver = false;
  let attempt: Pick<Transfer, 'pace' | 'giveWay'> | undefined;
  const leave = room.takeFor({
    ...request.holder,
    pace: () => attempt?.pace() ?? limits.apiOrdinaryPace,
    giveWay: () => attempt?.giveWay(),
  });
  return {
    request,
    onAttempt(begun) {
      attempt = begun;
    },
    onSending() {
      sent = true;
    },
    onStatus(received) {
      status = received;
    },
    end(outcome, error) {
      if (isOver) return;
      isOver = true;
      leave();
      const durationMs = performance.now() - start;
      const known = { ...(status && { status }), ...(error && { error }) };
      observe({ endpoint: 'api', outcome, sent, ...known, durationMs });
    },
  };
}
