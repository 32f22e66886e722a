import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import got, { type Got, type RequestError, type Response } from 'got';
import { type FailureCode, RelayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { ObserveCall } from './call.ts';
import { createConnectionPool, type ProxyEnvironment } from './connection-pool.ts';
import { onceSending } from './once-sending.ts';
import { openRequest } from './open-request.ts';
import { createRoom, type Endpoint } from './room.ts';
import type { StreamedRequest, StreamedResponse } from './streamed-messages.ts';
import { createStreaming } from './streaming.ts';

/** A request to one of the provider's endpoints. */
export interface UpstreamRequest {
  readonly endpoint: Endpoint;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string | URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
}

/** The provider's response. The body is empty if only the status arrived intact. */
export interface UpstreamResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

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

type Outcome =
  | { readonly answer: UpstreamResponse }
  | { readonly failure: FailureCode; readonly error?: string };
type Attempt = Outcome | 'died_while_idle';
type Head = Pick<Response, 'statusCode' | 'headers'>;

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

  /**
   * @param deadline when the attempt ends, on the clock of `performance.now()`
   * @param onSending called before the first byte of the request is written
   */
  function attempt(
    by: Got,
    request: UpstreamRequest,
    deadline: number,
    onSending: () => void,
  ): Promise<Attempt> {
    const left = deadline - performance.now();
    // After a VM pause the deadline may already be over. Don't spend the code for a caller who got a
    // timeout.
    if (left <= 0) return Promise.resolve({ failure: 'provider_timeout' });
    return new Promise((resolve) => {
      const { url, method, headers, body = '', signal } = request;
      // got's stream costs half of its promise, and can be destroyed at any time.
      const stream = by.stream(url, { method, headers: { ...headers, ...lengthOf(method, body) } });
      // got ends the request one tick after the body. If the response has already arrived, got
      // destroys the socket. So end it here.
      if (method !== 'GET') stream.end(body);
      const chunks: Buffer[] = [];
      let size = 0;
      let response: Head | undefined;
      let clientRequest: ClientRequest | undefined;

      const end = (result: Attempt) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        resolve(result);
      };
      const fail = (failure: Attempt) => {
        // Any status but 200 decides the outcome alone. A broken body changes nothing.
        const known = response !== undefined && response.statusCode !== 200;
        stream.destroy();
        end(known ? answered(response, []) : failure);
      };
      const giveUp = () => fail({ failure: 'client_gone' });
      const timer = setTimeout(fail, left, { failure: 'provider_timeout' });
      stream.on('request', (sent: ClientRequest) => {
        clientRequest = sent;
        onceSending(sent, onSending);
        // After a 101 Node emits only `upgrade` and hands over the socket. @see RFC 9110 §15.2.2
        sent.once('upgrade', ({ headers: answered }: IncomingMessage, connection: Duplex) => {
          connection.destroy();
          response = { statusCode: 101, headers: answered };
          fail({ failure: 'provider_unreachable' });
        });
      });
      stream.on('response', (received: Response) => {
        response = received;
      });
      stream.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > limits.providerAnswerSize) fail({ failure: 'provider_answer_unusable' });
      });
      stream.on('end', () => {
        // The provider timed out an idle keep-alive connection. @see RFC 9110 §15.5.9
        const unheard = response?.statusCode === 408 && clientRequest && pool.reused(clientRequest);
        end(unheard ? 'died_while_idle' : answered(response, chunks));
      });
      signal?.addEventListener('abort', giveUp);
      if (signal?.aborted) giveUp();
      // got's error holds the whole request, secret and code included. Don't pass it on.
      stream.on('error', (error: RequestError) => {
        const died = clientRequest !== undefined && pool.diedWhileIdle(clientRequest, error);
        if (died) end('died_while_idle');
        else fail({ failure: 'provider_unreachable', error: error.code });
      });
    });
  }

  async function attempts(
    request: UpstreamRequest,
    deadline: number,
    onSending: () => void,
  ): Promise<Outcome> {
    await pool.settled();
    const first = await attempt(pooled, request, deadline, onSending);
    if (first !== 'died_while_idle') return first;
    const second = await attempt(unpooled, request, deadline, onSending);
    return second === 'died_while_idle' ? { failure: 'provider_unreachable' } : second;
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

function answered(response: Head | undefined, chunks: readonly Buffer[]): Outcome {
  if (response === undefined) return { failure: 'provider_unreachable' };
  const { statusCode: status, headers } = response;
  return { answer: { status, headers, body: Buffer.concat(chunks) } };
}

function lengthOf(method: UpstreamRequest['method'], body: string): Record<string, string> {
  return method !== 'GET' ? { 'content-length': String(Buffer.byteLength(body)) } : {};
}
