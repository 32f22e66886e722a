import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Got, Request, RequestError, Response } from 'got';
import { type FailureCode, RelayError } from '../failures/relay-error.ts';
import { isOk } from '../oauth/token-response-format.ts';
import { type ConnectionPool, onceConnectionReady } from './connection-pool.ts';
import { framingHeaders, mayHaveBody } from './framing.ts';
import type { UpstreamRequest, UpstreamResponse } from './messages.ts';

/** A call, which may need several attempts. */
export interface Call {
  readonly request: Omit<UpstreamRequest, 'endpoint'>;
  readonly mostBytes: number;
  /** Starts the timeout of an attempt. @returns a function that stops the timeout */
  startTimeout(giveUp: (code: FailureCode) => void): () => void;
  /** Called before the first byte of the request is written. */
  onSending(): void;
  /** Called when the call is over. Only the first time counts. */
  end(outcome: 'answered' | FailureCode, status?: number, error?: string): void;
}

/**
 * The result of an attempt. After `died_while_idle`, another attempt can make the call, because the provider never got
 * the request.
 */
type AttemptResult = UpstreamResponse | 'died_while_idle';

/** One attempt at a call, which starts when it is created. */
export class Attempt {
  readonly #promise = Promise.withResolvers<AttemptResult>();
  readonly result = this.#promise.promise;
  readonly #call: Call;
  readonly #pool: ConnectionPool;
  readonly #stopClock: () => void;
  readonly #stream: Request;
  #sent: ClientRequest | undefined;
  /** The bytes that the connection had received before the request. */
  #bytesBefore = 0;
  #status: number | undefined;
  readonly #onAbort = () => this.#fail('client_gone');

  /** @param pool the connections that the instance uses */
  constructor(instance: Got, call: Call, pool: ConnectionPool) {
    const { request } = call;
    const { method, body = '' } = request;
    this.#call = call;
    this.#pool = pool;
    // got's stream costs half as much as its promise, and can be destroyed at any time.
    this.#stream = instance.stream(request.url, {
      method,
      headers: { ...request.headers, ...framingHeaders(method, Buffer.byteLength(body)) },
    });
    this.#stopClock = call.startTimeout((code) => this.#fail(code));
    this.#stream.on('request', (sent: ClientRequest) => this.#onRequest(sent));
    this.#stream.on('response', (response: Response) => this.#onResponse(response));
    this.#stream.on('error', (error: RequestError) => this.#onError(error));
    request.signal?.addEventListener('abort', this.#onAbort);
    if (request.signal?.aborted) this.#onAbort();
    // got ends the request one tick after the body, and destroys the socket if the response has arrived by then. So end
    // it here. got itself ends requests that cannot have a body. An empty chunk would cost a second write.
    else if (mayHaveBody(method)) this.#stream.end(body || undefined);
  }

  /** Watches the request of Node.js, which got has created. */
  #onRequest(sent: ClientRequest): void {
    this.#sent = sent;
    onceConnectionReady(sent, ({ bytesRead }) => {
      this.#bytesBefore = bytesRead;
      this.#call.onSending();
    });
    // After a 101, Node.js only emits `upgrade` and hands over the socket. @see RFC 9110 §15.2.2
    sent.once('upgrade', (_response: IncomingMessage, connection: Duplex) => {
      connection.destroy();
      this.#status = 101;
      this.#fail('provider_answer_unusable');
    });
  }

  /** Collects the body of the response, up to its limit. */
  #onResponse({ statusCode: status, headers }: Response): void {
    // The provider timed out an idle keep-alive connection. @see RFC 9110 §15.5.9
    if (status === 408 && this.#sent?.reusedSocket) {
      this.#leaveToNextAttempt();
      return;
    }
    this.#status = status;
    const chunks: Buffer[] = [];
    let size = 0;
    this.#stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > this.#call.mostBytes) this.#fail('provider_answer_unusable');
    });
    this.#stream.once('end', () => {
      this.#stopWaiting();
      this.#call.end('answered', status);
      this.#promise.resolve({ status, headers, body: Buffer.concat(chunks) });
    });
  }

  // Do not pass on got's error, which contains the whole request, with secret, code and token.
  #onError({ code }: RequestError): void {
    if (this.#sent && this.#pool.diedWhileIdle(this.#sent, code, this.#bytesBefore)) this.#leaveToNextAttempt();
    else this.#fail('provider_unreachable', code);
  }

  /** Ends the attempt without ending the call, which another attempt can make. */
  #leaveToNextAttempt(): void {
    this.#stopWaiting();
    this.#stream.destroy();
    this.#promise.resolve('died_while_idle');
  }

  /** Ends the call with a failure, or with the status alone if the caller needs no more. */
  #fail(code: FailureCode, error?: string): void {
    this.#stopWaiting();
    const { needsBody = isOk } = this.#call.request;
    const status = this.#status;
    // Of any other response, callers need only the status, so it does not matter that the body broke off.
    const isStatusEnough = status !== undefined && !needsBody(status);
    if (isStatusEnough) {
      this.#call.end('answered', status);
      this.#stream.destroy();
      this.#promise.resolve({ status, headers: {}, body: Buffer.of() });
      return;
    }
    this.#call.end(code, status, error);
    this.#stream.destroy();
    this.#promise.reject(new RelayError(code));
  }

  #stopWaiting(): void {
    this.#stopClock();
    this.#call.request.signal?.removeEventListener('abort', this.#onAbort);
  }
}
