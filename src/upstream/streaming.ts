import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Duplex, PassThrough, type Readable } from 'node:stream';
import type { Got, Method, RequestError, Response } from 'got';
import { type FailureCode, RelayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { ObserveCall } from './call.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { onceSending } from './once-sending.ts';
import { waitWithin } from './patience.ts';
import type { Room } from './room.ts';

/** A request to the provider's API whose body is streamed. */
export interface StreamedRequest {
  readonly method: Method;
  readonly url: URL;
  /** Without those that frame the body. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: the request has no body. */
  readonly upload: { readonly content: Readable; readonly length: number | undefined } | undefined;
  /** Aborts if the client hangs up. */
  readonly clientGone: AbortSignal;
}

/** A response of the provider's API whose body is streamed. */
export interface StreamedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Its bytes as the API sent them, compressed or not. It fails with a `RelayError` if it breaks off. */
  readonly body: Readable;
}

/** One call, of one or two attempts. */
interface Call {
  readonly request: StreamedRequest;
  readonly onSending: () => void;
  readonly onStatus: (status: number) => void;
  /** Called when an attempt ends the call; only the first time counts. */
  readonly end: (outcome: 'answered' | FailureCode, error?: string) => void;
}

const noBody: ReadonlySet<number> = new Set([204, 205, 304]);

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

  function attempt(instance: Got, call: Call): Promise<StreamedResponse | 'died_while_idle'> {
    return new Promise((resolve, reject) => {
      const { method, url, headers, upload, clientGone } = call.request;
      const stream = instance.stream(url, {
        method,
        headers: { ...headers, ...framing(call.request) },
        decompress: false,
      });
      const body = new PassThrough();
      // Nobody may be reading it yet.
      body.on('error', () => {});
      let isUploading = upload !== undefined;
      let isStarted = false;
      let clientRequest: ClientRequest | undefined;
      let stopUpload: (() => void) | undefined;

      const settle = () => {
        patience.stop();
        clientGone.removeEventListener('abort', onGone);
        body.off('close', onGone);
        stopUpload?.();
      };
      const fail = (code: FailureCode, error?: string) => {
        settle();
        call.end(code, error);
        stream.destroy();
        if (isStarted) body.destroy(new RelayError(code));
        else reject(new RelayError(code));
      };
      const retry = () => {
        settle();
        stream.destroy();
        resolve('died_while_idle');
      };
      const onGone = () => fail('client_gone');
      const isClientSlow = () =>
        body.writableNeedDrain || (isUploading && !stream.writableNeedDrain);
      const within = { silence: timeout, longest: limits.apiCallTime };
      const patience = waitWithin(within, isClientSlow, () => fail('provider_timeout'));

      stream.on('request', (sent: ClientRequest) => {
        clientRequest = sent;
        onceSending(sent, call.onSending);
        // After a 101 Node emits only `upgrade` and hands over the socket. @see RFC 9110 §15.2.2
        sent.once('upgrade', (_response: IncomingMessage, connection: Duplex) => {
          connection.destroy();
          fail('provider_answer_unusable');
        });
      });
      stream.on('response', (response: Response) => {
        const { statusCode: status, headers: received } = response;
        const isReused = clientRequest !== undefined && pool.reused(clientRequest);
        // The API timed out an idle keep-alive connection. @see RFC 9110 §15.5.9
        if (status === 408 && isReused && upload === undefined) return retry();
        patience.renew();
        call.onStatus(status);
        countBytes(stream, limits.apiResponseSize, patience.renew, () =>
          fail('provider_answer_unusable'),
        );
        stream.pipe(body);
        body.on('drain', patience.renew);
        body.once('close', onGone);
        const start = () => {
          isStarted = true;
          resolve({ status, headers: received, body });
        };
        // Without a body, wait for the end: the call is over before the relay's response is.
        if (method === 'HEAD' || noBody.has(status)) stream.once('end', start);
        else start();
      });
      stream.on('end', () => {
        settle();
        call.end('answered');
        // The API has answered without reading the whole upload.
        if (isUploading) stream.destroy();
      });
      // got's error holds the whole request, token included. Don't pass it on.
      stream.on('error', (error: RequestError) => {
        const isReplayable = !isStarted && upload === undefined;
        const hasDied = clientRequest !== undefined && pool.diedWhileIdle(clientRequest, error);
        if (isReplayable && hasDied) retry();
        else fail('provider_unreachable', error.code);
      });
      clientGone.addEventListener('abort', onGone);
      if (clientGone.aborted) return onGone();
      if (upload === undefined) {
        // got itself ends only those that cannot have a body.
        if (method !== 'GET' && method !== 'HEAD') stream.end();
        return;
      }
      upload.content.once('end', () => {
        isUploading = false;
        patience.renew();
      });
      const stopCounting = countBytes(upload.content, limits.apiRequestSize, patience.renew, () =>
        fail('upload_too_large'),
      );
      upload.content.pipe(stream);
      // What is not needed any more stays unread.
      stopUpload = () => {
        stopCounting();
        upload.content.unpipe(stream).pause();
      };
    });
  }

  return async (request, observe) => {
    const start = performance.now();
    const leave = room.take('api');
    let sent = false;
    let status: number | undefined;
    let isOver = false;
    const call: Call = {
      request,
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
    try {
      await pool.settled();
      // A body cannot be sent twice, so it needs a new connection: a kept one may have died while idle.
      const isReplayable = request.upload === undefined;
      const first = await attempt(isReplayable ? pooled : unpooled, call);
      if (first !== 'died_while_idle') return first;
      const second = await attempt(unpooled, call);
      if (second !== 'died_while_idle') return second;
      throw new RelayError('provider_unreachable');
    } catch (error) {
      call.end(error instanceof RelayError ? error.code : 'internal_error');
      throw error;
    }
  };
}

/** The headers that frame the body. @see RFC 9112 §6 */
function framing({ method, upload }: StreamedRequest): Record<string, string> {
  if (upload?.length !== undefined) return { 'content-length': String(upload.length) };
  if (upload !== undefined) return { 'transfer-encoding': 'chunked' };
  return method === 'GET' || method === 'HEAD' ? {} : { 'content-length': '0' };
}

/**
 * Calls back with every chunk, and once more than `most` bytes have passed.
 *
 * @returns stops it
 */
function countBytes(
  stream: Readable,
  most: number,
  onChunk: () => void,
  onExcess: () => void,
): () => void {
  let size = 0;
  const count = (chunk: Buffer) => {
    size += chunk.length;
    onChunk();
    if (size > most) onExcess();
  };
  stream.on('data', count);
  return () => void stream.off('data', count);
}
