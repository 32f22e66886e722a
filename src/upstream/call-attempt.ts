import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Got, Request, RequestError, Response } from 'got';
import type { FailureCode } from '../errors.ts';
import { limits } from '../limits.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { UpstreamRequest, UpstreamResponse } from './messages.ts';
import { onceSending } from './once-sending.ts';

/** How a call ended. */
export type Outcome =
  | { readonly answer: UpstreamResponse }
  | { readonly failure: FailureCode; readonly error?: string };

/** How an attempt ended. `died_while_idle`: the provider never took the request, so another attempt can make the call. */
type AttemptOutcome = Outcome | 'died_while_idle';

type Head = Pick<Response, 'statusCode' | 'headers'>;

/** An attempt to make a call, on one connection. */
export class CallAttempt {
  readonly #result = Promise.withResolvers<AttemptOutcome>();
  readonly result = this.#result.promise;

  readonly #request: UpstreamRequest;
  readonly #pool: ConnectionPool;
  readonly #onSending: () => void;
  readonly #stream: Request;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #clientRequest: ClientRequest | undefined;
  #response: Head | undefined;

  /**
   * @param by makes the request
   * @param pool the connections that `by` uses
   * @param time milliseconds that the attempt may take
   * @param onSending called before the first byte of the request is written
   */
  constructor(
    by: Got,
    request: UpstreamRequest,
    pool: ConnectionPool,
    time: number,
    onSending: () => void,
  ) {
    const { url, method, headers, body = '', signal } = request;
    this.#request = request;
    this.#pool = pool;
    this.#onSending = onSending;
    // got's stream costs half of its promise, and can be destroyed at any time.
    this.#stream = by.stream(url, { method, headers: { ...headers, ...lengthOf(method, body) } });
    // got ends the request one tick after the body. If the response has already arrived, got
    // destroys the socket. So end it here.
    if (method !== 'GET') this.#stream.end(body);
    this.#timer = setTimeout(() => this.#fail({ failure: 'provider_timeout' }), time);
    this.#stream.on('request', this.#onRequest);
    this.#stream.on('response', (response: Response) => {
      this.#response = response;
    });
    this.#stream.on('data', this.#onData);
    this.#stream.on('end', this.#onEnd);
    this.#stream.on('error', this.#onError);
    signal?.addEventListener('abort', this.#onAbort);
    if (signal?.aborted) this.#onAbort();
  }

  readonly #onRequest = (sent: ClientRequest): void => {
    this.#clientRequest = sent;
    onceSending(sent, this.#onSending);
    // After a 101 Node emits only `upgrade` and hands over the socket. @see RFC 9110 §15.2.2
    sent.once('upgrade', ({ headers }: IncomingMessage, connection: Duplex) => {
      connection.destroy();
      this.#response = { statusCode: 101, headers };
      this.#fail({ failure: 'provider_unreachable' });
    });
  };

  readonly #onData = (chunk: Buffer): void => {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size > limits.providerAnswerSize) {
      this.#fail({ failure: 'provider_answer_unusable' });
    }
  };

  readonly #onEnd = (): void => {
    const isReused = this.#clientRequest !== undefined && this.#pool.reused(this.#clientRequest);
    // The provider timed out an idle keep-alive connection. @see RFC 9110 §15.5.9
    const isUnheard = this.#response?.statusCode === 408 && isReused;
    this.#end(isUnheard ? 'died_while_idle' : answered(this.#response, this.#chunks));
  };

  // got's error holds the whole request, secret and code included. Don't pass it on.
  readonly #onError = (error: RequestError): void => {
    const hasDied =
      this.#clientRequest !== undefined && this.#pool.diedWhileIdle(this.#clientRequest, error);
    if (hasDied) this.#end('died_while_idle');
    else this.#fail({ failure: 'provider_unreachable', error: error.code });
  };

  readonly #onAbort = (): void => this.#fail({ failure: 'client_gone' });

  #fail(failure: Outcome): void {
    this.#stream.destroy();
    // Any status but 200 decides the outcome alone. A broken body changes nothing.
    const isDecided = this.#response !== undefined && this.#response.statusCode !== 200;
    this.#end(isDecided ? answered(this.#response, []) : failure);
  }

  #end(outcome: AttemptOutcome): void {
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    this.#result.resolve(outcome);
  }
}

function answered(response: Head | undefined, chunks: readonly Buffer[]): Outcome {
  if (response === undefined) return { failure: 'provider_unreachable' };
  const { statusCode: status, headers } = response;
  return { answer: { status, headers, body: Buffer.concat(chunks) } };
}

function lengthOf(method: UpstreamRequest['method'], body: string): Record<string, string> {
  return method !== 'GET' ? { 'content-length': String(Buffer.byteLength(body)) } : {};
}
