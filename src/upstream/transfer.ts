import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { acceptsWebSocket } from '../api-proxy/websocket.ts';
import type { Closing } from '../api-proxy/websocket-frames.ts';
import { type FailureCode, RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import { type Agents, type ConnectionPool, onceSending, openRequest } from './connection-pool.ts';
import { framing, hasNoBody } from './framing.ts';
import type { StreamedRequest, StreamedResponse } from './messages.ts';
import type { ClientsTurn, TransferPatience } from './patience.ts';
import { Tunnel } from './websocket-tunnel.ts';

export interface StreamedCall {
  readonly request: Omit<StreamedRequest, 'holder' | 'end'>;
  readonly mostBytes: number;
  /** Undefined for the limit of Node.js. */
  readonly headSize: number | undefined;
  readonly attempts: readonly Agents[];
  /** Starts the clock. @param clientsTurn the action of the client that the transfer waits for */
  wait(clientsTurn: () => ClientsTurn, giveUp: (code: FailureCode) => void): TransferPatience;
  /** Called before the first byte of the request is written. */
  onSending(): void;
  end(outcome: 'answered' | FailureCode, status?: number, error?: string): void;
}

/**
 * A call with streamed bodies: the request's from the client to the server, the response's back. Each side is read only
 * as fast as the other one takes the bytes.
 */
export class Transfer {
  readonly #answer = Promise.withResolvers<StreamedResponse>();
  /** The response, as soon as it has begun; without a body, once the call is over. Rejects with a `RelayError`. */
  readonly response = this.#answer.promise;
  readonly #call: StreamedCall;
  readonly #pool: ConnectionPool;
  readonly #attempts: Agents[];
  #patience: TransferPatience | undefined;
  #sent: ClientRequest | undefined;
  /** The body of the request; undefined once it has ended. */
  #upload: Readable | undefined;
  #uploaded = 0;
  #incoming: IncomingMessage | undefined;
  #downloaded = 0;
  /** Bytes of the response's body that are not written yet. */
  #held: Buffer[] = [];
  #tunnel: Tunnel | undefined;
  /** What the client of a WebSocket is told at its end. */
  #closing: Closing | undefined;
  #endedFirst: 'client' | 'upstream' = 'upstream';
  /** The receiver of the response's body. */
  #receiver: 'client' | 'nobody' | undefined;
  #ending: 'complete' | RelayError | undefined;
  #onEnding = () => {};
  readonly #onClientGone = () => this.#fail('client_gone');
  readonly #onClientDrained = () => {
    this.#patience?.renew();
    this.#incoming?.resume();
  };
  readonly #onUploaded = (chunk: Buffer) => this.#passUp(chunk);

  constructor(call: StreamedCall, pool: ConnectionPool) {
    this.#call = call;
    this.#pool = pool;
    this.#attempts = [...call.attempts];
    const { client } = call.request;
    // This runs before other listeners, so that the record of the request contains the call that it ends.
    client.prependOnceListener('close', this.#onClientGone);
    // A write to a client that has just gone fails. Without a listener, that would end the process.
    client.on('error', ignore);
    void this.#begin();
  }

  /** Bytes a minute that the client passes, at most `limits.apiOrdinaryPace`. */
  pace(): number {
    return this.#patience?.pace() ?? limits.apiOrdinaryPace;
  }

  /** Of a WebSocket: the bytes that the client has sent and that the server has, and who has ended it first. */
  get passed() {
    return { received: this.#uploaded, sent: this.#downloaded, endedFirst: this.#endedFirst };
  }

  /** Gives up. A response that has begun breaks off. */
  cancel(code: FailureCode): void {
    this.#fail(code);
  }

  /** Ends a response that has begun as if it were complete. Earlier, it gives up. @param closing ends a WebSocket */
  finish(closing?: Closing): void {
    if (this.#incoming === undefined) {
      this.#fail('client_gone');
      return;
    }
    this.#closing = closing;
    this.#complete();
    this.#sent?.destroy();
  }

  /** Starts the first attempt after the caller has the transfer. */
  async #begin(): Promise<void> {
    await this.#pool.settled();
    // The client may be gone by now, or may have been gone from the start.
    if (this.#call.request.client.closed) this.#fail('client_gone');
    if (this.#ending !== undefined) return;
    this.#patience = this.#call.wait(
      () => this.#clientsTurn(),
      (code) => this.#fail(code),
    );
    this.#attempt();
  }

  #attempt(): void {
    const agents = this.#attempts.shift();
    if (agents === undefined) {
      this.#fail('provider_unreachable');
      return;
    }
    try {
      this.#sent = this.#open(agents);
      this.#send(this.#sent);
    } catch (error) {
      // Node.js throws for a header that it would not send.
      this.#fail('provider_unreachable', codeOf(error));
    }
  }

  /** Makes another attempt, because the server has not got the request. */
  #tryAgain(): void {
    const sent = this.#sent;
    this.#sent = undefined;
    sent?.destroy();
    this.#attempt();
  }

  #open(agents: Agents): ClientRequest {
    const { request, headSize } = this.#call;
    const { method, body } = request;
    const url = new URL(request.url);
    const sent = openRequest(url, {
      method,
      headers: { ...request.headers, ...framing(method, body === undefined ? 0 : body.length) },
      agent: url.protocol === 'https:' ? agents.https : agents.http,
      maxHeaderSize: headSize,
    });
    let bytesBefore = 0;
    onceSending(sent, ({ bytesRead }) => {
      bytesBefore = bytesRead;
      this.#call.onSending();
    });
    sent.on('error', (error) => {
      if (sent !== this.#sent) return;
      if (this.#pool.diedWhileIdle(sent, codeOf(error), bytesBefore)) this.#tryAgain();
      else this.#fail('provider_unreachable', codeOf(error));
    });
    // After a 101, Node.js only emits `upgrade` and hands over the socket. @see RFC 9110 §15.2.2
    sent.once('upgrade', (incoming: IncomingMessage, connection: Socket, head: Buffer) => {
      this.#onSwitch(incoming, connection, head);
    });
    sent.once('response', (incoming) => {
      // The server timed out an idle keep-alive connection. Without another attempt, 408 is the answer. @see RFC 9110
      // §15.5.9
      if (incoming.statusCode === 408 && sent.reusedSocket && this.#attempts.length > 0) this.#tryAgain();
      else this.#onResponse(incoming);
    });
    return sent;
  }

  #send(sent: ClientRequest): void {
    const { body } = this.#call.request;
    if (body === undefined || body instanceof Uint8Array) {
      sent.end(body);
      return;
    }
    const { content } = body;
    this.#upload = content;
    sent.on('drain', () => content.resume());
    content.once('end', () => {
      if (this.#upload === undefined) return;
      this.#upload = undefined;
      this.#patience?.renew();
      sent.end();
    });
    content.on('data', this.#onUploaded);
  }

  #passUp(chunk: Buffer): void {
    this.#uploaded += chunk.length;
    this.#patience?.renew(chunk.length);
    if (this.#uploaded > limits.apiRequestSize) this.#fail('upload_too_large');
    else if (!this.#sent?.write(chunk)) this.#upload?.pause();
  }

  #onResponse(incoming: IncomingMessage): void {
    const { statusCode: status = 0, headers } = incoming;
    // It does not say to which protocol.
    if (status === 101) {
      this.#fail('provider_answer_unusable', undefined, status);
      return;
    }
    this.#incoming = incoming;
    this.#patience?.answered();
    incoming.on('error', (error) => this.#fail('provider_unreachable', codeOf(error)));
    const hasBody = !hasNoBody(this.#call.request.method, status);
    const response = { status, headers, hasBody, send: () => this.#sendDown(), skip: () => this.#skip() };
    if (hasBody) {
      this.#answer.resolve(response);
      return;
    }
    // Resolve only at the end, so that the record of the request contains the finished call.
    this.#onEnding = () => this.#answer.resolve(response);
    this.#receive('nobody');
    // Some servers send a body with a 205, and no end. @see RFC 9110 §15.3.6
    if (status === 205) this.finish();
  }

  #onSwitch(incoming: IncomingMessage, connection: Socket, head: Buffer): void {
    const { webSocket } = this.#call.request;
    if (webSocket === undefined || !acceptsWebSocket(incoming.headers, webSocket.key)) {
      connection.destroy();
      this.#fail('provider_answer_unusable', undefined, incoming.statusCode);
      return;
    }
    this.#incoming = incoming;
    this.#patience?.answered();
    // A silent WebSocket has no other sign of a server that has vanished.
    connection.setKeepAlive(true, limits.keepAliveTime);
    if (head.length > 0) connection.unshift(head);
    this.#tunnel = new Tunnel(webSocket.connection, connection, {
      passed: (from, bytes) => this.#countPassed(from, bytes),
      ended: (first) => {
        this.#endedFirst = first === 'client' ? 'client' : 'upstream';
        this.#complete();
      },
      broken: (error) => this.#fail('provider_unreachable', codeOf(error)),
    });
    const { statusCode: status = 0, headers } = incoming;
    const finish = async () => this.finish();
    this.#answer.resolve({ status, headers, hasBody: true, send: () => this.#join(), skip: finish });
  }

  #countPassed(from: 'client' | 'server', bytes: number): void {
    if (from === 'client') {
      this.#uploaded += bytes;
      return;
    }
    this.#downloaded += bytes;
    this.#patience?.renew(bytes);
  }

  /** Lets the WebSocket begin: the client has the head of the answer. */
  #join(): void {
    this.#receiver = 'client';
    if (this.#ending !== undefined) this.#endClient(this.#ending);
    else this.#tunnel?.begin();
  }

  /** Writes the body to the client, and ends the client's response in the way that the server ended its own. */
  #sendDown(): void {
    if (this.#ending !== undefined) {
      this.#endClient(this.#ending);
      return;
    }
    this.#call.request.client.on('drain', this.#onClientDrained);
    this.#receive('client');
  }

  /** Reads the rest for a moment, because the connection can be reused only after the end. */
  async #skip(): Promise<void> {
    if (this.#ending !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => this.finish(), limits.lingerTime);
    this.#onEnding = resolve;
    this.#receive('nobody');
    await promise;
    clearTimeout(timer);
  }

  #receive(receiver: 'client' | 'nobody'): void {
    const incoming = this.#incoming;
    this.#receiver = receiver;
    if (incoming?.complete) {
      // A small body often arrives with its head, so one write is enough. A read returns one chunk.
      for (let chunk = incoming.read(); chunk !== null; chunk = incoming.read()) this.#held.push(chunk);
    } else incoming?.on('data', (chunk: Buffer) => this.#passDown(chunk));
    incoming?.once('end', () => this.#onEnd());
  }

  #passDown(chunk: Buffer): void {
    if (this.#ending !== undefined) return;
    this.#downloaded += chunk.length;
    this.#patience?.renew(chunk.length);
    if (this.#downloaded > this.#call.mostBytes) this.#fail('provider_answer_unusable');
    // A read may have ten thousand chunks. A write for each would delay all other requests.
    else if (this.#receiver === 'client' && this.#held.push(chunk) === 1) process.nextTick(() => this.#writeDown());
  }

  #writeDown(): void {
    const bytes = this.#ending === undefined ? this.#takeHeld() : undefined;
    if (bytes !== undefined && !this.#call.request.client.write(bytes)) this.#incoming?.pause();
  }

  #takeHeld(): Buffer | undefined {
    const held = this.#held.splice(0);
    return held.length > 1 ? Buffer.concat(held) : held[0];
  }

  #onEnd(): void {
    const isUploading = this.#upload !== undefined;
    this.#complete();
    // The server has answered without reading the whole upload.
    if (isUploading) this.#sent?.destroy();
  }

  #complete(): void {
    if (this.#ending !== undefined) return;
    this.#settle('complete');
    this.#call.end('answered', this.#incoming?.statusCode);
    if (this.#receiver === 'client') this.#endClient('complete');
    this.#onEnding();
  }

  #fail(code: FailureCode, error?: string, status = this.#incoming?.statusCode): void {
    if (this.#ending !== undefined) return;
    const failure = new RelayError(code);
    this.#settle(failure);
    this.#call.end(code, status, error);
    this.#sent?.destroy();
    this.#tunnel?.destroy();
    this.#answer.reject(failure);
    if (this.#receiver === 'client') this.#endClient(failure);
    this.#onEnding();
  }

  /** Ends the client's response. An incomplete one breaks off, so that it does not seem complete. */
  #endClient(ending: 'complete' | RelayError): void {
    const { client } = this.#call.request;
    const rest = this.#takeHeld();
    if (ending !== 'complete') client.destroy(ending);
    else if (this.#tunnel) this.#tunnel.leave(this.#closing, () => client.end());
    else if (rest === undefined) client.end();
    else client.end(rest);
  }

  #settle(ending: 'complete' | RelayError): void {
    this.#ending = ending;
    this.#patience?.stop();
    this.#call.request.client.off('close', this.#onClientGone).off('drain', this.#onClientDrained);
    // The rest of an upload stays unread.
    this.#upload?.off('data', this.#onUploaded).pause();
    this.#upload = undefined;
  }

  /** What the relay's client has to do before the transfer can continue. */
  #clientsTurn(): ClientsTurn {
    const { client, webSocket } = this.#call.request;
    if ((webSocket?.connection ?? client).writableNeedDrain) return 'read';
    return this.#upload !== undefined && !this.#sent?.writableNeedDrain ? 'send' : undefined;
  }
}

function ignore(): void {}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
