import type { Duplex } from 'node:stream';
import { buildCloseFrame, type Closing, FrameBoundaries } from '../api-proxy/websocket-frames.ts';
import { limits } from '../limits.ts';

/** Learns what happens in a tunnel. */
export interface TunnelObserver {
  /** A side has sent this many bytes. */
  onBytes(from: 'client' | 'server', bytes: number): void;
  /** The server has ended its side, or has had time to end it after the client's end. @param first who ended first */
  onEnd(first: 'client' | 'server'): void;
  /** The connection to the server has broken. */
  onBroken(error?: unknown): void;
}

/**
 * The bytes that a client sends before it knows that there is a WebSocket, although it has to wait. They are read at
 * once, because a client that closes behind unread bytes would not be noticed, and would keep its place until the server
 * answers.
 *
 * @see RFC 6455 §4.1
 */
export class EarlyBytes {
  readonly #client: Duplex;
  readonly #onTooMany: () => void;
  #held: Buffer[] = [];
  #size = 0;
  readonly #hold = (bytes: Buffer) => {
    this.#held.push(bytes);
    this.#size += bytes.length;
    if (this.#size > limits.earlyWebSocketSize) this.#onTooMany();
  };

  constructor(client: Duplex, onTooMany: () => void) {
    this.#client = client;
    this.#onTooMany = onTooMany;
    client.on('data', this.#hold);
  }

  /** Stops reading. @returns the bytes; at a second call, none */
  take(): Buffer {
    this.#client.off('data', this.#hold).pause();
    return Buffer.concat(this.#held.splice(0));
  }
}

/**
 * A client and a server whose connections have switched to WebSocket. The bytes of one side reach the other. Each side
 * is read only as fast as the other one takes what was read.
 */
export class Tunnel {
  readonly #client: Duplex;
  readonly #server: Duplex;
  readonly #observer: TunnelObserver;
  readonly #frames = new FrameBoundaries();
  #timer: NodeJS.Timeout | undefined;
  #endedFirst: 'client' | 'server' = 'server';
  /** Closes the WebSocket at the end of the server's current frame. Undefined unless that is awaited. */
  #finishClose: (() => void) | undefined;
  readonly #sendToServer = (bytes: Buffer) => {
    this.#observer.onBytes('client', bytes.length);
    if (!this.#server.write(bytes)) this.#client.pause();
  };

  /** No bytes pass before `start`. */
  constructor(client: Duplex, server: Duplex, observer: TunnelObserver) {
    this.#client = client;
    this.#server = server;
    this.#observer = observer;
    // The server may end its side before the client knows that there is a WebSocket.
    server.once('end', () => observer.onEnd(this.#endedFirst));
    server.on('error', (error) => observer.onBroken(error)).once('close', () => observer.onBroken());
  }

  /** Lets bytes pass in both directions. @param early what the client has sent before */
  start(early: Buffer): void {
    this.#client.on('data', this.#sendToServer).on('drain', () => this.#server.resume());
    this.#server.on('data', (bytes: Buffer) => this.#sendToClient(bytes)).on('drain', () => this.#client.resume());
    this.#client.once('end', () => this.#onClientEnd());
    this.#client.resume();
    // This pauses the client again if the server does not take so much at once.
    if (early.length > 0) this.#sendToServer(early);
  }

  /**
   * Ends both sides.
   *
   * @param closing the code and reason for the client; undefined if the server has ended the WebSocket
   * @param onWritten called when everything for the client is written
   */
  close(closing: Closing | undefined, onWritten: () => void): void {
    this.#client.off('data', this.#sendToServer).pause();
    clearTimeout(this.#timer);
    const end = (frame?: Buffer) => {
      this.#finishClose = undefined;
      this.destroy();
      if (frame !== undefined && this.#client.writable) this.#client.write(frame);
      onWritten();
    };
    const frame = closing && buildCloseFrame(closing);
    if (frame === undefined || this.#frames.isAtBoundary) end(frame);
    else {
      this.#finishClose = () => end(frame);
      // The server may never send the rest of its frame. Then end without a frame of the relay, which the client would
      // take for the rest.
      this.#timer = setTimeout(() => end(), limits.lingerTime);
    }
  }

  /** Breaks the connection to the server. */
  destroy(): void {
    clearTimeout(this.#timer);
    this.#server.destroy();
  }

  /** Passes bytes to the client. While the WebSocket closes, only those up to the end of the frame pass. */
  #sendToClient(bytes: Buffer): void {
    const isClosing = this.#finishClose !== undefined;
    const length = this.#frames.follow(bytes, isClosing);
    this.#observer.onBytes('server', length);
    const canTakeMore = this.#client.write(bytes.subarray(0, length));
    if (!canTakeMore) this.#server.pause();
    if (isClosing && this.#frames.isAtBoundary) this.#finishClose?.();
  }

  /** Waits a while for the end of the server, which may still send, such as an answer to the last message. */
  #onClientEnd(): void {
    this.#endedFirst = 'client';
    this.#server.end();
    this.#timer = setTimeout(() => this.#observer.onEnd('client'), limits.halfClosedTime);
  }
}
