import { type ClientRequest, type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { Closing } from '../api-proxy/websocket-frames.ts';
import { acceptsWebSocket } from '../api-proxy/websocket-handshake.ts';
import { type FailureCode, RelayError } from '../failures/relay-error.ts';
import { limits } from '../limits.ts';
import { type Agents, type ConnectionPool, onceConnectionReady, openRequest } from './connection-pool.ts';
import { cannotHaveBody, framingHeaders } from './framing.ts';
import type { StreamedRequest, StreamedResponse } from './messages.ts';
import type { ClientsTurn, TransferTimeout } from './timeouts.ts';
import { EarlyBytes, Tunnel } from './websocket-tunnel.ts';

/** A call with streamed bodies, which may need several attempts. */
export interface StreamedCall {
  readonly request: Omit<StreamedRequest, 'holder' | 'evict'>;
  readonly mostBytes: number;
  /** Undefined for the limit of Node.js. */
  readonly headSize: number | undefined;
  readonly attempts: readonly Agents[];
  /** Starts the clock. @param clientsTurn returns the action of the client that the transfer waits for */
  startTimeout(clientsTurn: () => ClientsTurn, giveUp: (code: FailureCode) => void): TransferTimeout;
  /** Called before the first byte of the request is written. */
  onSending(): void;
  end(outcome: 'answered' | FailureCode, status?: number, error?: string): void;
}

/**
 * A call with streamed bodies: the request's from the client to the server, the response's back. Each side is read only
 * as fast as the other one takes the bytes.
 */
export class Transfer {
  readonly #response = Promise.withResolvers<StreamedResponse>();
  /** The response, as soon as it has begun; without a body, once the call is over. Rejects with a `RelayError`. */
  readonly response = this.#response.promise;
  readonly #call: StreamedCall;
  readonly #pool: ConnectionPool;
  readonly #attempts: Agents[];
  #timeout: TransferTimeout | undefined;
  #sent: ClientRequest | undefined;
  /** The body of the request; undefined once it has ended. */
  #upload: Readable | undefined;
  #uploaded = 0;
  #incoming: IncomingMessage | undefined;
  #downloaded = 0;
  /** Bytes of the response's body that are not written yet. */
  #unwritten: Buffer[] = [];
  #tunnel: Tunnel | undefined;
  /** What the client of a WebSocket sends before the tunnel starts. */
  #early: EarlyBytes | undefined;
  /** The code and reason that the client of a WebSocket is told at its end. */
  #closing: Closing | undefined;
  #endedFirst: 'client' | 'upstream' = 'upstream';
  /** The receiver of the response's body. */
  #receiver: 'client' | 'nobody' | undefined;
  #ending: 'complete' | RelayError | undefined;
  /** Called once the transfer has ended. */
  #onEnded = () => {};
  readonly #onClientGone = () => this.#fail('client_gone');
  readonly #onClientDrained = () => {
    this.#timeout?.renew();
    this.#incoming?.resume();
  };
  readonly #onUploadChunk = (chunk: Buffer) => this.#sendUpload(chunk);

  constructor(call: StreamedCall, pool: ConnectionPool) {
    this.#call = call;
    this.#pool = pool;
    this.#attempts = [...call.attempts];
    const { client, webSocket } = call.request;
    if (webSocket) this.#early = new EarlyBytes(webSocket.connection, () => this.#fail('upload_too_large'));
    // This runs before other listeners, so that the record of the request contains the call that it ends.
    client.prependOnceListener('close', this.#onClientGone);
    // A write to a client that has just gone fails. Without a listener, that would end the process.
    client.on('error', ignore);
    void this.#start();
  }

  /** Bytes a minute that the client passes, at most `limits.apiOrdinaryPace`. */
  pace(): number {
    return this.#timeout?.pace() ?? limits.apiOrdinaryPace;
  }

  /** The bytes that the client and the server of a WebSocket have sent, and who has ended it first. */
  get webSocketSummary() {
    return { received: this.#uploaded, sent: this.#downloaded, endedFirst: this.#endedFirst };
  }

  /** Gives up. A response that has begun breaks off. */
  cancel(code: FailureCode): void {
    this.#fail(code);
  }

  /**
   * Ends a response as if it were complete. If its head has not arrived, it gives up, and reports `client_gone`. A caller
   * with another reason has to tell that itself.
   *
   * @param closing the code and reason that the client of a WebSocket is told
   */
  finish(closing?: Closing): void {
    if (this.#incoming === undefined) {
      this.#fail('client_gone');
      return;
    }
    this.#closing = closing;
    this.#complete();
    this.#sent?.destroy();
  }

  /** Starts the first attempt, in a later tick, so that the caller has the transfer by then. */
  async #start(): Promise<void> {
    // Bytes that arrived on an idle connection would be taken for the response.
    await this.#pool.dropPoisonedConnections();
    // The client may be gone by now, or may have been gone from the start.
    if (this.#call.request.client.closed) this.#fail('client_gone');
    if (this.#ending !== undefined) return;
    this.#timeout = this.#call.startTimeout(
      () => this.#clientsTurn(),
      (code) => this.#fail(code),
    );
    this.#startAttempt();
  }

  /** Starts the next attempt. The call fails if no attempt is left. */
  #startAttempt(): void {
    const agents = this.#attempts.shift();
    if (agents === undefined) {
      this.#fail('provider_unreachable');
      return;
    }
    try {
      this.#sent = this.#openAttempt(agents);
      this.#sendBody(this.#sent);
    } catch (error) {
      // Node.js throws for a header that it would not send.
      this.#fail('provider_unreachable', errorCode(error));
    }
  }

  /** Makes another attempt, because the server has not got the request. */
  #tryAgain(): void {
    const sent = this.#sent;
    this.#sent = undefined;
    sent?.destroy();
    this.#startAttempt();
  }

  /** Opens a request, and watches what comes back. */
  #openAttempt(agents: Agents): ClientRequest {
    const { request, headSize } = this.#call;
    const { method, body } = request;
    const url = new URL(request.url);
    const sent = openRequest(url, {
      method,
      headers: { ...request.headers, ...framingHeaders(method, body === undefined ? 0 : body.length) },
      agent: url.protocol === 'https:' ? agents.https : agents.http,
      maxHeaderSize: headSize,
    });
    let bytesBefore = 0;
    onceConnectionReady(sent, ({ bytesRead }) => {
      bytesBefore = bytesRead;
      this.#call.onSending();
    });
    sent.on('error', (error) => {
      // The request was given up, which looks as if its connection had died.
      if (sent !== this.#sent || this.#ending !== undefined) return;
      const status = this.#incoming?.statusCode;
      // The response is complete. Some servers send a body with it nevertheless, which breaks the connection.
      if (status !== undefined && cannotHaveBody(method, status)) this.finish();
      else if (this.#pool.diedWhileIdle(sent, errorCode(error), bytesBefore)) this.#tryAgain();
      else this.#fail('provider_unreachable', errorCode(error));
    });
    // After a 101, Node.js only emits `upgrade` and hands over the socket. @see RFC 9110 §15.2.2
    sent.once('upgrade', (incoming: IncomingMessage, connection: Socket, head: Buffer) => {
      this.#onUpgrade(incoming, connection, head);
    });
    sent.once('response', (incoming) => {
      // The server timed out an idle keep-alive connection. @see RFC 9110 §15.5.9
      const diedWhileIdle = incoming.statusCode === 408 && sent.reusedSocket;
      if (diedWhileIdle && this.#attempts.length > 0) this.#tryAgain();
      else this.#onResponse(incoming);
    });
    return sent;
  }

  /** Sends the body of the request: at once, or while it arrives from the client. */
  #sendBody(sent: ClientRequest): void {
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
      this.#timeout?.renew();
      sent.end();
    });
    content.on('data', this.#onUploadChunk);
  }

  /** Sends a part of an upload, and pauses the upload while the server does not read. */
  #sendUpload(chunk: Buffer): void {
    this.#uploaded += chunk.length;
    this.#timeout?.renew(chunk.length);
    if (this.#uploaded > limits.apiRequestSize) this.#fail('upload_too_large');
    else if (!this.#sent?.write(chunk)) this.#upload?.pause();
  }

  /** Gives the response to the caller, who decides whether its body is sent to the client. */
  #onResponse(incoming: IncomingMessage): void {
    const { statusCode: status = 0, headers } = incoming;
    // The server does not name the new protocol. If it did, Node.js would have emitted `upgrade`.
    if (status === 101) {
      this.#fail('provider_answer_unusable', undefined, status);
      return;
    }
    this.#incoming = incoming;
    this.#timeout?.onAnswered();
    this.#early?.take();
    incoming.on('error', (error) => this.#fail('provider_unreachable', errorCode(error)));
    const hasBody = !cannotHaveBody(this.#call.request.method, status);
    const response = { status, headers, hasBody, send: () => this.#sendToClient(), discard: () => this.#discardRest() };
    if (hasBody) {
      this.#response.resolve(response);
      return;
    }
    // Resolve only at the end, so that the record of the request contains the finished call.
    this.#onEnded = () => this.#response.resolve(response);
    this.#readBody('nobody');
    // Some servers send a body with a 205, and no end. @see RFC 9110 §15.3.6
    if (status === 205) this.finish();
  }

  /** Gives the WebSocket to the caller, if the server has accepted the request for it. */
  #onUpgrade(incoming: IncomingMessage, connection: Socket, head: Buffer): void {
    const { webSocket } = this.#call.request;
    if (webSocket === undefined || !acceptsWebSocket(incoming.headers, webSocket.key)) {
      connection.destroy();
      this.#fail('provider_answer_unusable', undefined, incoming.statusCode);
      return;
    }
    this.#incoming = incoming;
    this.#timeout?.onAnswered();
    // A silent WebSocket has no other sign of a server that has vanished.
    connection.setKeepAlive(true, limits.keepAliveTime);
    if (head.length > 0) connection.unshift(head);
    this.#tunnel = new Tunnel(webSocket.connection, connection, {
      onBytes: (from, bytes) => this.#countWebSocketBytes(from, bytes),
      onEnd: (first) => {
        this.#endedFirst = first === 'client' ? 'client' : 'upstream';
        this.#complete();
      },
      onBroken: (error) => this.#fail('provider_unreachable', errorCode(error)),
    });
    const { statusCode: status = 0, headers } = incoming;
    const finish = async () => this.finish();
    this.#response.resolve({ status, headers, hasBody: true, send: () => this.#beginWebSocket(), discard: finish });
  }

  /** Counts bytes of a WebSocket. Bytes of the server also count for the pace at which the client reads. */
  #countWebSocketBytes(from: 'client' | 'server', bytes: number): void {
    if (from === 'client') {
      this.#uploaded += bytes;
      return;
    }
    this.#downloaded += bytes;
    this.#timeout?.renew(bytes);
  }

  /** Lets bytes of the WebSocket pass, because the client now has the head of the response. */
  #beginWebSocket(): void {
    this.#receiver = 'client';
    if (this.#ending !== undefined) this.#endClient(this.#ending);
    else this.#tunnel?.start(this.#early?.take() ?? Buffer.alloc(0));
  }

  /** Writes the body to the client. The client's response ends complete or broken, as the server's does. */
  #sendToClient(): void {
    // The transfer may have ended between the head and this call.
    if (this.#ending !== undefined) {
      this.#endClient(this.#ending);
      return;
    }
    this.#call.request.client.on('drain', this.#onClientDrained);
    this.#readBody('client');
  }

  /** Reads the rest for a moment, because the connection can be reused only after the end of the response. */
  async #discardRest(): Promise<void> {
    if (this.#ending !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => this.finish(), limits.lingerTime);
    this.#onEnded = resolve;
    this.#readBody('nobody');
    await promise;
    clearTimeout(timer);
  }

  /** Reads the body of the response, for the client or only to its end. */
  #readBody(receiver: 'client' | 'nobody'): void {
    const incoming = this.#incoming;
    this.#receiver = receiver;
    if (incoming?.complete) {
      // A small body often arrives with its head. Then it is written at once, at the end.
      for (let chunk = incoming.read(); chunk !== null; chunk = incoming.read()) this.#unwritten.push(chunk);
    } else incoming?.on('data', (chunk: Buffer) => this.#onResponseChunk(chunk));
    incoming?.once('end', () => this.#onResponseEnd());
  }

  /** Collects a part of the body, which is written to the client in the next tick. */
  #onResponseChunk(chunk: Buffer): void {
    if (this.#ending !== undefined) return;
    this.#downloaded += chunk.length;
    this.#timeout?.renew(chunk.length);
    if (this.#downloaded > this.#call.mostBytes) {
      this.#fail('provider_answer_unusable');
      return;
    }
    if (this.#receiver !== 'client') return;
    this.#unwritten.push(chunk);
    // A read may have ten thousand chunks. A write for each would delay all other requests, so write them together.
    if (this.#unwritten.length === 1) process.nextTick(() => this.#flushToClient());
  }

  /** Writes the collected parts to the client, and pauses the response while the client does not read. */
  #flushToClient(): void {
    // The ending has written the rest already.
    if (this.#ending !== undefined) return;
    const bytes = this.#takeUnwritten();
    if (bytes === undefined) return;
    const canTakeMore = this.#call.request.client.write(bytes);
    if (!canTakeMore) this.#incoming?.pause();
  }

  #takeUnwritten(): Buffer | undefined {
    const chunks = this.#unwritten.splice(0);
    return chunks.length > 1 ? Buffer.concat(chunks) : chunks[0];
  }

  /** Completes the transfer after the last byte of the response. */
  #onResponseEnd(): void {
    // Read now, because `#complete` forgets the upload.
    const isUploading = this.#upload !== undefined;
    this.#complete();
    // The server has answered without reading the whole upload.
    if (isUploading) this.#sent?.destroy();
  }

  /** Ends the transfer as complete. Only the first ending counts. */
  #complete(): void {
    if (this.#ending !== undefined) return;
    this.#stop('complete');
    this.#call.end('answered', this.#incoming?.statusCode);
    if (this.#receiver === 'client') this.#endClient('complete');
    this.#onEnded();
  }

  /** Ends the transfer with a failure, which breaks off a response that has begun. Only the first ending counts. */
  #fail(code: FailureCode, error?: string, status = this.#incoming?.statusCode): void {
    if (this.#ending !== undefined) return;
    const failure = new RelayError(code);
    this.#stop(failure);
    this.#call.end(code, status, error);
    this.#sent?.destroy();
    this.#tunnel?.destroy();
    this.#response.reject(failure);
    if (this.#receiver === 'client') this.#endClient(failure);
    this.#onEnded();
  }

  /** Ends the client's response. An incomplete one breaks off, so that it does not seem complete. */
  #endClient(ending: 'complete' | RelayError): void {
    const { client } = this.#call.request;
    const rest = this.#takeUnwritten();
    if (ending !== 'complete') breakOff(client, ending);
    else if (this.#tunnel) this.#tunnel.close(this.#closing, () => client.end());
    else if (rest === undefined) client.end();
    else client.end(rest);
  }

  /** Records the ending, and stops the timeout, the upload, the bytes of a WebSocket, and the listeners on the client. */
  #stop(ending: 'complete' | RelayError): void {
    this.#ending = ending;
    this.#timeout?.stop();
    // The bytes are dropped. `take` also stops reading them.
    this.#early?.take();
    this.#call.request.client.off('close', this.#onClientGone).off('drain', this.#onClientDrained);
    // The rest of an upload stays unread.
    this.#upload?.off('data', this.#onUploadChunk).pause();
    this.#upload = undefined;
  }

  /** The action of the relay's client without which the transfer cannot continue. */
  #clientsTurn(): ClientsTurn {
    const { client, webSocket } = this.#call.request;
    const receiver = webSocket?.connection ?? client;
    if (receiver.writableNeedDrain) return 'read';
    const serverCanRead = !this.#sent?.writableNeedDrain;
    return this.#upload !== undefined && serverCanRead ? 'send' : undefined;
  }
}

/**
 * Breaks off a response. If not even its head came, a browser would take the connection for an idle one that had died,
 * and would send the request again, even a POST. An HTTP/1.0 client would take the head for the whole response.
 */
function breakOff(client: Writable, reason: RelayError): void {
  const hasHeadToSend = client instanceof ServerResponse && !client.headersSent && !client.destroyed;
  if (hasHeadToSend && client.req.httpVersion === '1.1') client.flushHeaders();
  client.destroy(reason);
}

function ignore(): void {}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
