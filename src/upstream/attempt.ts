import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex, PassThrough } from 'node:stream';
import type { Got, Method, Request, RequestError, Response } from 'got';
import { type FailureCode, RelayError } from '../errors.ts';
import { limits } from '../limits.ts';
import { type ConnectionPool, onceSending } from './connection-pool.ts';
import type { Upload, UpstreamRequest, UpstreamResponse } from './messages.ts';
import type { Patience } from './patience.ts';

/** A call, which learns from its attempts how it goes. */
export interface Call {
  readonly request: Omit<UpstreamRequest, 'endpoint'>;
  /** Takes the body of the response: a stream gets it as it is, a list gets the chunks of the decompressed body. */
  readonly download: PassThrough | Buffer[];
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

/** The head of a response. */
export type Head = Omit<UpstreamResponse, 'body'>;

/** An attempt to make a call, on one connection: the request, and the transfer of both bodies. */
export class Attempt {
  readonly #result = Promise.withResolvers<Head | 'died_while_idle'>();
  /**
   * Resolves with the head of the response; without a body or with a list of chunks, once the call is over.
   * `died_while_idle`: the provider never took the request, so another attempt can make the call.
   */
  readonly result = this.#result.promise;

  readonly #call: Call;
  readonly #pool: ConnectionPool;
  readonly #stream: Request;
  /** The body of the response, if it is streamed. */
  readonly #download: PassThrough | undefined;
  readonly #patience: Patience;
  #clientRequest: ClientRequest | undefined;
  /** The bytes that the connection had received before. */
  #bytesBefore = 0;
  #status: number | undefined;
  #isUploading = false;
  #isAnswered = false;
  #stopUpload: () => void = () => {};

  /**
   * @param by makes the request
   * @param pool the connections that `by` uses
   */
  constructor(by: Got, call: Call, pool: ConnectionPool) {
    const { method, url, headers, body, signal } = call.request;
    this.#call = call;
    this.#download = Array.isArray(call.download) ? undefined : call.download;
    this.#pool = pool;
    // got's stream costs half of its promise, and can be destroyed at any time.
    this.#stream = by.stream(url, {
      method,
      headers: { ...headers, ...framing(call.request) },
      decompress: this.#download === undefined,
    });
    this.#patience = call.wait(
      () => this.#isClientsTurn(),
      (code) => this.#fail(code),
    );
    this.#stream.on('request', this.#onRequest);
    this.#stream.on('response', this.#onResponse);
    this.#stream.on('end', this.#onEnd);
    this.#stream.on('error', this.#onError);
    signal?.addEventListener('abort', this.#onGone);
    if (signal?.aborted) this.#onGone();
    else if (typeof body === 'object') this.#upload(body);
    // got ends the request one tick after the body. If the response has already arrived, got
    // destroys the socket. So end it here. got itself ends those that cannot have a body.
    // An empty chunk would cost a second write.
    else if (mayHaveBody(method)) this.#stream.end(body || undefined);
  }

  #upload({ content }: Upload): void {
    this.#isUploading = true;
    content.once('end', () => {
      this.#isUploading = false;
      this.#patience.renew();
    });
    const count = this.#counter(limits.apiRequestSize, 'upload_too_large');
    content.on('data', count).pipe(this.#stream);
    // What is not needed any more stays unread.
    this.#stopUpload = () => content.off('data', count).unpipe(this.#stream).pause();
  }

  readonly #onRequest = (sent: ClientRequest): void => {
    this.#clientRequest = sent;
    onceSending(sent, ({ bytesRead }) => {
      this.#bytesBefore = bytesRead;
      this.#call.onSending();
    });
    // After a 101 Node emits only `upgrade` and hands over the socket. @see RFC 9110 §15.2.2
    sent.once('upgrade', (_response: IncomingMessage, connection: Duplex) => {
      connection.destroy();
      this.#status = 101;
      this.#fail('provider_answer_unusable');
    });
  };

  readonly #onResponse = ({ statusCode: status, headers }: Response): void => {
    // The provider timed out an idle keep-alive connection. @see RFC 9110 §15.5.9
    if (status === 408 && this.#clientRequest?.reusedSocket) {
      this.#giveWay();
      return;
    }
    const { request, mostBytes, download } = this.#call;
    this.#patience.renew();
    this.#status = status;
    this.#stream.on('data', this.#counter(mostBytes, 'provider_answer_unusable'));
    const answer = () => {
      this.#isAnswered = true;
      this.#result.resolve({ status, headers });
    };
    if (Array.isArray(download)) this.#stream.on('data', (chunk: Buffer) => download.push(chunk));
    else {
      this.#stream.pipe(download);
      download.on('drain', () => this.#patience.renew());
      download.once('close', this.#onGone);
    }
    // Without a body, wait for the end: the call is over before the relay's response is.
    if (Array.isArray(download) || isBodiless(request.method, status))
      this.#stream.once('end', answer);
    else answer();
  };

  readonly #onEnd = (): void => {
    this.#settle();
    this.#call.end('answered', this.#status);
    // The provider has answered without reading the whole upload.
    if (this.#isUploading) this.#stream.destroy();
  };

  // got's error holds the whole request, secret, code and token included. Don't pass it on.
  readonly #onError = ({ code }: RequestError): void => {
    const sent = this.#clientRequest;
    if (sent && this.#pool.diedWhileIdle(sent, code, this.#bytesBefore)) this.#giveWay();
    else this.#fail('provider_unreachable', code);
  };

  readonly #onGone = (): void => this.#fail('client_gone');

  /** Ends the attempt, but not the call: another attempt can make it. */
  #giveWay(): void {
    this.#settle();
    this.#stream.destroy();
    this.#result.resolve('died_while_idle');
  }

  #fail(code: FailureCode, error?: string): void {
    this.#settle();
    const { download, end } = this.#call;
    const status = this.#status;
    // Any other status than 200 decides alone: a broken body changes nothing.
    const isDecided = Array.isArray(download) && status !== undefined && status !== 200;
    if (isDecided) end('answered', status);
    else end(code, status, error);
    this.#stream.destroy();
    if (isDecided) {
      download.length = 0;
      this.#result.resolve({ status, headers: {} });
    } else if (this.#isAnswered) this.#download?.destroy(new RelayError(code));
    else this.#result.reject(new RelayError(code));
  }

  #settle(): void {
    this.#patience.stop();
    this.#call.request.signal?.removeEventListener('abort', this.#onGone);
    this.#download?.off('close', this.#onGone);
    this.#stopUpload();
  }

  /** Whether the transfer waits for the client, which reads or sends slowly. */
  #isClientsTurn(): boolean {
    const isReading = this.#download?.writableNeedDrain === true;
    return isReading || (this.#isUploading && !this.#stream.writableNeedDrain);
  }

  /** A listener for the chunks of a body: it renews the patience, and fails once more than `most` bytes have passed. */
  #counter(most: number, excess: FailureCode): (chunk: Buffer) => void {
    let size = 0;
    return ({ length }) => {
      size += length;
      this.#patience.renew(length);
      if (size > most) this.#fail(excess);
    };
  }
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
