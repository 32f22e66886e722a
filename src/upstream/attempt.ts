import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex, PassThrough, Readable } from 'node:stream';
import type { Got, Method, Request, RequestError, Response } from 'got';
import { type FailureCode, RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import { isOk } from '../oauth/token-answer.ts';
import { type ConnectionPool, onceSending } from './connection-pool.ts';
import type { UpstreamRequest, UpstreamResponse } from './messages.ts';
import type { ClientsTurn, Patience } from './patience.ts';

/** A call, which learns from its attempts how it goes. */
export interface Call {
  readonly request: Omit<UpstreamRequest, 'endpoint'>;
  /** Takes the body of the response as it is sent. Undefined: the response has it whole, and decompressed. */
  readonly download?: PassThrough;
  /** Bytes that the body of the response may have. */
  readonly mostBytes: number;
  /** Starts the clock of an attempt. @param clientsTurn what the attempt waits for the client to do */
  wait(clientsTurn: () => ClientsTurn, giveUp: (code: FailureCode) => void): Patience;
  /** Called before the first byte of the request is written. */
  onSending(): void;
  /** Called when an attempt ends the call; only the first time counts. */
  end(outcome: 'answered' | FailureCode, status?: number, error?: string): void;
}

/** What an attempt comes to. `died_while_idle`: the provider never took the request, so another attempt can make the call. */
type Result = UpstreamResponse | 'died_while_idle';

/** Why a call is aborted whose response has begun, and may end early. */
export const enough = 'enough';

/** One attempt at a call, on one connection: the request, and the transfer of both bodies. */
export class Attempt {
  readonly #promise = Promise.withResolvers<Result>();
  /** The response, once the call is over; with a download, as soon as there is something to download. */
  readonly result = this.#promise.promise;
  readonly #call: Call;
  readonly #pool: ConnectionPool;
  readonly #patience: Patience;
  readonly #stream: Request;
  #sent: ClientRequest | undefined;
  /** The bytes that the connection had received before the request. */
  #bytesBefore = 0;
  /** The body of the request if it is sent while it arrives; undefined once it has ended. */
  #upload: Readable | undefined;
  readonly #countUpload = this.#counter(limits.apiRequestSize, 'upload_too_large');
  #status: number | undefined;
  /** What ends the call from outside: its signal, or the end of the download. */
  readonly #onAbort = () => {
    if (this.#call.request.signal?.reason === enough) this.#finish();
    else this.#fail('client_gone');
  };

  /** @param pool the connections that the instance uses */
  constructor(instance: Got, call: Call, pool: ConnectionPool) {
    const { request, download } = call;
    this.#call = call;
    this.#pool = pool;
    // got's stream costs half of its promise, and can be destroyed at any time.
    this.#stream = instance.stream(request.url, {
      method: request.method,
      headers: { ...request.headers, ...framing(request) },
      decompress: download === undefined,
    });
    this.#patience = call.wait(
      () => this.#clientsTurn(),
      (code) => this.#fail(code),
    );
    this.#stream.on('request', (sent: ClientRequest) => this.#onRequest(sent));
    this.#stream.on('response', (response: Response) => this.#onResponse(response));
    this.#stream.on('end', () => this.#onEnd());
    this.#stream.on('error', (error: RequestError) => this.#onError(error));
    request.signal?.addEventListener('abort', this.#onAbort);
    if (request.signal?.aborted) this.#onAbort();
    else this.#send(request);
  }

  #send({ method, body }: Call['request']): void {
    if (typeof body === 'object') this.#sendStreamed(body.content);
    // got ends the request one tick after the body. If the response has already arrived, got destroys the socket. So
    // end it here. got itself ends those that cannot have a body. An empty chunk would cost a second write.
    else if (mayHaveBody(method)) this.#stream.end(body || undefined);
  }

  #sendStreamed(content: Readable): void {
    this.#upload = content;
    content.once('end', () => {
      this.#upload = undefined;
      this.#patience.renew();
    });
    content.on('data', this.#countUpload).pipe(this.#stream);
  }

  #onRequest(sent: ClientRequest): void {
    this.#sent = sent;
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
  }

  #onResponse(response: Response): void {
    // The provider timed out an idle keep-alive connection. @see RFC 9110 §15.5.9
    if (response.statusCode === 408 && this.#sent?.reusedSocket) {
      this.#leaveToNextAttempt();
      return;
    }
    this.#status = response.statusCode;
    this.#patience.answered();
    this.#stream.on('data', this.#counter(this.#call.mostBytes, 'provider_answer_unusable'));
    const { download } = this.#call;
    if (download === undefined) this.#receiveWhole(response);
    else this.#receiveStreamed(response, download);
  }

  #receiveWhole(response: Response): void {
    const chunks: Buffer[] = [];
    this.#stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    this.#stream.once('end', () => this.#answer(response, Buffer.concat(chunks)));
  }

  #receiveStreamed(response: Response, download: PassThrough): void {
    this.#stream.pipe(download);
    download.on('drain', () => this.#patience.renew());
    download.once('close', this.#onAbort);
    // Without a body, wait for the end: the call is then over before the relay answers, and its record has it.
    const { method } = this.#call.request;
    if (!hasNoBody(method, response.statusCode)) this.#answer(response);
    else this.#stream.once('end', () => this.#answer(response));
    // Some servers send a body with a 205 all the same, and no end. @see RFC 9110 §15.3.6
    if (response.statusCode === 205) {
      this.#answer(response);
      this.#finish();
    }
  }

  #answer({ statusCode: status, headers }: Response, body = Buffer.of()): void {
    this.#promise.resolve({ status, headers, body });
  }

  #onEnd(): void {
    this.#settle();
    this.#call.end('answered', this.#status);
    // The provider has answered without reading the whole upload.
    if (this.#upload) this.#stream.destroy();
  }

  // got's error holds the whole request, secret, code and token included. Don't pass it on.
  #onError({ code }: RequestError): void {
    if (this.#sent && this.#pool.diedWhileIdle(this.#sent, code, this.#bytesBefore)) this.#leaveToNextAttempt();
    else this.#fail('provider_unreachable', code);
  }

  /** Ends the attempt, but not the call: another attempt can make it. */
  #leaveToNextAttempt(): void {
    this.#settle();
    this.#stream.destroy();
    this.#promise.resolve('died_while_idle');
  }

  #fail(code: FailureCode, error?: string): void {
    this.#settle();
    const { download, request } = this.#call;
    const { needsBody = isOk } = request;
    const status = this.#status;
    // Any other status says all that callers need: a broken body changes nothing.
    const isDecided = download === undefined && status !== undefined && !needsBody(status);
    if (isDecided) this.#call.end('answered', status);
    else this.#call.end(code, status, error);
    this.#stream.destroy();
    if (isDecided) this.#promise.resolve({ status, headers: {}, body: Buffer.of() });
    this.#promise.reject(new RelayError(code));
    download?.destroy(new RelayError(code));
  }

  /** Ends a download as if it was complete. */
  #finish(): void {
    this.#settle();
    this.#call.end('answered', this.#status);
    this.#stream.unpipe().destroy();
    this.#call.download?.end();
  }

  #settle(): void {
    this.#patience.stop();
    this.#call.request.signal?.removeEventListener('abort', this.#onAbort);
    this.#call.download?.off('close', this.#onAbort);
    // The rest of an upload stays unread.
    this.#upload?.off('data', this.#countUpload).unpipe(this.#stream).pause();
  }

  /** What the relay's client has to do before the transfer can go on. */
  #clientsTurn(): ClientsTurn {
    if (this.#call.download?.writableNeedDrain) return 'read';
    return this.#upload !== undefined && !this.#stream.writableNeedDrain ? 'send' : undefined;
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
  return length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(length) };
}

/** Whether a response has no body, whatever its headers say. @see RFC 9112 §6.3 */
function hasNoBody(method: Method, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 205 || status === 304;
}
