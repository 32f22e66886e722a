import type { ClientRequest, IncomingMessage } from 'node:http';
import { type Duplex, PassThrough, type Readable } from 'node:stream';
import type { Got, Request, RequestError, Response } from 'got';
import { type FailureCode, RelayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { onceSending } from './once-sending.ts';
import { type Patience, waitWithin } from './patience.ts';
import type { Transfer } from './room.ts';
import {
  framing,
  isBodiless,
  type StreamedRequest,
  type StreamedResponse,
} from './streamed-messages.ts';

/** A streamed call, which learns from its attempts how it goes. */
export interface StreamedCall {
  readonly request: StreamedRequest;
  readonly onAttempt: (begun: Pick<Transfer, 'pace' | 'giveWay'>) => void;
  /** Called before the first byte of the request is written. */
  readonly onSending: () => void;
  readonly onStatus: (status: number) => void;
  /** Called when an attempt ends the call; only the first time counts. */
  readonly end: (outcome: 'answered' | FailureCode, error?: string) => void;
}

/** An attempt to make a streamed call, on one connection: the request, and the transfer of both bodies. */
export class StreamingAttempt {
  readonly #result = Promise.withResolvers<StreamedResponse | 'died_while_idle'>();
  /**
   * Resolves with the head of the response; for a response without a body, once the call is over.
   * `died_while_idle`: the API never took the request, so another attempt can make the call.
   */
  readonly result = this.#result.promise;

  readonly #call: StreamedCall;
  readonly #pool: ConnectionPool;
  readonly #stream: Request;
  /** The body of the response. It exists before the response does. */
  readonly #download = new PassThrough();
  readonly #patience: Patience;
  #clientRequest: ClientRequest | undefined;
  #isUploading: boolean;
  #isAnswered = false;
  #stopUpload: () => void = () => {};

  /**
   * @param by makes the request
   * @param pool the connections that `by` uses
   * @param silence milliseconds that the API may be silent while the relay waits for it
   */
  constructor(by: Got, call: StreamedCall, pool: ConnectionPool, silence: number) {
    const { method, url, headers, upload, clientGone } = call.request;
    this.#call = call;
    this.#pool = pool;
    this.#isUploading = upload !== undefined;
    this.#stream = by.stream(url, {
      method,
      headers: { ...headers, ...framing(call.request) },
      decompress: false,
    });
    // It may fail before the caller reads it. Without a listener, that would end the process.
    this.#download.on('error', () => {});
    this.#patience = waitWithin(
      silence,
      () => this.#isClientsTurn(),
      (code) => this.#fail(code),
    );
    call.onAttempt({ pace: this.#patience.pace, giveWay: () => this.#fail('overloaded') });
    this.#stream.on('request', this.#onRequest);
    this.#stream.on('response', this.#onResponse);
    this.#stream.on('end', this.#onEnd);
    this.#stream.on('error', this.#onError);
    clientGone.addEventListener('abort', this.#onGone);
    if (clientGone.aborted) this.#onGone();
    else if (upload !== undefined) this.#upload(upload.content);
    // got itself ends only those that cannot have a body.
    else if (method !== 'GET' && method !== 'HEAD') this.#stream.end();
  }

  #upload(content: Readable): void {
    content.once('end', () => {
      this.#isUploading = false;
      this.#patience.renew();
    });
    const stopCounting = this.#count(content, limits.apiRequestSize, 'upload_too_large');
    content.pipe(this.#stream);
    // What is not needed any more stays unread.
    this.#stopUpload = () => {
      stopCounting();
      content.unpipe(this.#stream).pause();
    };
  }

  readonly #onRequest = (sent: ClientRequest): void => {
    this.#clientRequest = sent;
    onceSending(sent, this.#call.onSending);
    // After a 101 Node emits only `upgrade` and hands over the socket. @see RFC 9110 §15.2.2
    sent.once('upgrade', (_response: IncomingMessage, connection: Duplex) => {
      connection.destroy();
      this.#fail('provider_answer_unusable');
    });
  };

  readonly #onResponse = ({ statusCode: status, headers }: Response): void => {
    const { method, upload } = this.#call.request;
    const isReused = this.#clientRequest !== undefined && this.#pool.reused(this.#clientRequest);
    // The API timed out an idle keep-alive connection. @see RFC 9110 §15.5.9
    if (status === 408 && isReused && upload === undefined) {
      this.#giveWay();
      return;
    }
    this.#patience.renew();
    this.#call.onStatus(status);
    this.#count(this.#stream, limits.apiResponseSize, 'provider_answer_unusable');
    this.#stream.pipe(this.#download);
    this.#download.on('drain', () => this.#patience.renew());
    this.#download.once('close', this.#onGone);
    const answer = () => {
      this.#isAnswered = true;
      this.#result.resolve({ status, headers, body: this.#download });
    };
    // Without a body, wait for the end: the call is over before the relay's response is.
    if (isBodiless(method, status)) this.#stream.once('end', answer);
    else answer();
  };

  readonly #onEnd = (): void => {
    this.#settle();
    this.#call.end('answered');
    // The API has answered without reading the whole upload.
    if (this.#isUploading) this.#stream.destroy();
  };

  // got's error holds the whole request, token included. Don't pass it on.
  readonly #onError = (error: RequestError): void => {
    const isReplayable = !this.#isAnswered && this.#call.request.upload === undefined;
    const hasDied =
      this.#clientRequest !== undefined && this.#pool.diedWhileIdle(this.#clientRequest, error);
    if (isReplayable && hasDied) this.#giveWay();
    else this.#fail('provider_unreachable', error.code);
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
    this.#call.end(code, error);
    this.#stream.destroy();
    if (this.#isAnswered) this.#download.destroy(new RelayError(code));
    else this.#result.reject(new RelayError(code));
  }

  #settle(): void {
    this.#patience.stop();
    this.#call.request.clientGone.removeEventListener('abort', this.#onGone);
    this.#download.off('close', this.#onGone);
    this.#stopUpload();
  }

  /** Whether the transfer waits for the client, which reads or sends slowly. */
  #isClientsTurn(): boolean {
    return (
      this.#download.writableNeedDrain || (this.#isUploading && !this.#stream.writableNeedDrain)
    );
  }

  /**
   * Renews the patience with every chunk of a body, and fails once more than `most` bytes have passed.
   *
   * @returns stops it
   */
  #count(body: Readable, most: number, excess: FailureCode): () => void {
    let size = 0;
    const count = (chunk: Buffer) => {
      size += chunk.length;
      this.#patience.renew(chunk.length);
      if (size > most) this.#fail(excess);
    };
    body.on('data', count);
    return () => void body.off('data', count);
  }
}
