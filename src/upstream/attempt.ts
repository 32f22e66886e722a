import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex, PassThrough } from 'node:stream';
import type { Got, Method, RequestError, Response } from 'got';
import { type FailureCode, RelayError } from '../errors.ts';
import { limits } from '../limits.ts';
import { type ConnectionPool, onceSending } from './connection-pool.ts';
import type { Upload, UpstreamRequest, UpstreamResponse } from './messages.ts';
import type { Patience } from './patience.ts';

/** A call, which learns from its attempts how it goes. */
export interface Call {
  readonly request: Omit<UpstreamRequest, 'endpoint'>;
  /** Takes the body of the response as it is sent. Undefined: the response has it whole, and decompressed. */
  readonly download?: PassThrough;
  /** Bytes that the body of the response may have. */
  readonly mostBytes: number;
  /**
   * Starts the clock of an attempt.
   *
   * @param isClientsTurn whether the attempt waits for the client
   */
  wait(isClientsTurn: () => boolean, giveUp: (code: FailureCode) => void): Patience;
  /** Called before the first byte of the request is written. */
  onSending(): void;
  /** Called when an attempt ends the call; only the first time counts. */
  end(outcome: 'answered' | FailureCode, status?: number, error?: string): void;
}

/**
 * Makes an attempt at a call, on one connection: the request, and the transfer of both bodies.
 *
 * @param by makes the request
 * @param pool the connections that `by` uses
 * @returns the response, once the call is over; with a download, as soon as there is something to download.
 *   `died_while_idle`: the provider never took the request, so another attempt can make the call.
 */
export function attempt(
  by: Got,
  call: Call,
  pool: ConnectionPool,
): Promise<UpstreamResponse | 'died_while_idle'> {
  const { request, download } = call;
  const { method, url, headers, body, signal } = request;
  const result = Promise.withResolvers<UpstreamResponse | 'died_while_idle'>();
  let sent: ClientRequest | undefined;
  /** The bytes that the connection had received before. */
  let bytesBefore = 0;
  let status: number | undefined;
  let isUploading = false;
  let isAnswered = false;
  let stopUpload = () => {};

  // got's stream costs half of its promise, and can be destroyed at any time.
  const stream = by.stream(url, {
    method,
    headers: { ...headers, ...framing(request) },
    decompress: download === undefined,
  });
  const patience = call.wait(isClientsTurn, (code) => fail(code));
  const onGone = () => fail('client_gone');

  /** Whether the transfer waits for the client, which reads or sends slowly. */
  function isClientsTurn(): boolean {
    const isReading = download?.writableNeedDrain === true;
    return isReading || (isUploading && !stream.writableNeedDrain);
  }

  function settle(): void {
    patience.stop();
    signal?.removeEventListener('abort', onGone);
    download?.off('close', onGone);
    stopUpload();
  }

  /** Ends the attempt, but not the call: another attempt can make it. */
  function giveWay(): void {
    settle();
    stream.destroy();
    result.resolve('died_while_idle');
  }

  function fail(code: FailureCode, error?: string): void {
    settle();
    // Any other status than 200 decides alone: a broken body changes nothing.
    const decided = download === undefined && status !== 200 ? status : undefined;
    if (decided === undefined) call.end(code, status, error);
    else call.end('answered', decided);
    stream.destroy();
    if (decided !== undefined) result.resolve({ status: decided, headers: {}, body: Buffer.of() });
    else if (isAnswered) download?.destroy(new RelayError(code));
    else result.reject(new RelayError(code));
  }

  /** A listener for the chunks of a body: it renews the patience, and fails once more than `most` bytes have passed. */
  function counter(most: number, excess: FailureCode): (chunk: Buffer) => void {
    let size = 0;
    return ({ length }) => {
      size += length;
      patience.renew(length);
      if (size > most) fail(excess);
    };
  }

  function upload({ content }: Upload): void {
    isUploading = true;
    content.once('end', () => {
      isUploading = false;
      patience.renew();
    });
    const count = counter(limits.apiRequestSize, 'upload_too_large');
    content.on('data', count).pipe(stream);
    // What is not needed any more stays unread.
    stopUpload = () => content.off('data', count).unpipe(stream).pause();
  }

  stream.on('request', (clientRequest: ClientRequest) => {
    sent = clientRequest;
    onceSending(clientRequest, ({ bytesRead }) => {
      bytesBefore = bytesRead;
      call.onSending();
    });
    // After a 101 Node emits only `upgrade` and hands over the socket. @see RFC 9110 §15.2.2
    clientRequest.once('upgrade', (_response: IncomingMessage, connection: Duplex) => {
      connection.destroy();
      status = 101;
      fail('provider_answer_unusable');
    });
  });
  stream.on('response', ({ statusCode, headers }: Response) => {
    // The provider timed out an idle keep-alive connection. @see RFC 9110 §15.5.9
    if (statusCode === 408 && sent?.reusedSocket) {
      giveWay();
      return;
    }
    status = statusCode;
    patience.renew();
    stream.on('data', counter(call.mostBytes, 'provider_answer_unusable'));
    const chunks: Buffer[] = [];
    const answer = () => {
      isAnswered = true;
      result.resolve({ status: statusCode, headers, body: Buffer.concat(chunks) });
    };
    if (download === undefined) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    else {
      stream.pipe(download);
      download.on('drain', () => patience.renew());
      download.once('close', onGone);
    }
    // Without a body, wait for the end: the call is over before the relay's response is.
    if (download === undefined || isBodiless(method, statusCode)) stream.once('end', answer);
    else answer();
  });
  stream.on('end', () => {
    settle();
    call.end('answered', status);
    // The provider has answered without reading the whole upload.
    if (isUploading) stream.destroy();
  });
  // got's error holds the whole request, secret, code and token included. Don't pass it on.
  stream.on('error', ({ code }: RequestError) => {
    if (sent && pool.diedWhileIdle(sent, code, bytesBefore)) giveWay();
    else fail('provider_unreachable', code);
  });
  signal?.addEventListener('abort', onGone);
  if (signal?.aborted) onGone();
  else if (typeof body === 'object') upload(body);
  // got ends the request one tick after the body. If the response has already arrived, got
  // destroys the socket. So end it here. got itself ends those that cannot have a body.
  // An empty chunk would cost a second write.
  else if (mayHaveBody(method)) stream.end(body || undefined);
  return result.promise;
}

const mayHaveBody = (method: Method) => method !== 'GET' && method !== 'HEAD';

/** The headers that frame the body. @see RFC 9112 §6 */
function framing({ method, body = '' }: Call['request']): Record<string, string> {
  if (!mayHaveBody(method)) return {};
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  return length === undefined
    ? { 'transfer-encoding': 'chunked' }
    : { 'content-length': String(length) };
}

const statusesWithoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

/** Whether a response has no body, whatever its headers say. @see RFC 9112 §6.3 */
function isBodiless(method: Method, status: number): boolean {
  return method === 'HEAD' || statusesWithoutBody.has(status);
}
