import type { Duplex } from 'node:stream';
import { type Closing, closeFrame, FrameBoundaries } from '../api-proxy/websocket-frames.ts';
import { limits } from '../limits.ts';

/** Learns what happens in a tunnel. */
export interface TunnelObserver {
  /** A side has sent so many bytes. */
  passed(from: 'client' | 'server', bytes: number): void;
  /** The server has ended its side, or has had time to do so after the client. @param first who ended first */
  ended(first: 'client' | 'server'): void;
  /** The connection to the server has broken. */
  broken(error?: unknown): void;
}

/**
 * A client and a server whose connections have switched to WebSocket. What one side sends reaches the other. Each side is
 * read only as fast as the other one takes what was read.
 */
export class Tunnel {
  readonly #client: Duplex;
  readonly #server: Duplex;
  readonly #on: TunnelObserver;
  readonly #frames = new FrameBoundaries();
  #timer: NodeJS.Timeout | undefined;
  #first: 'client' | 'server' = 'server';
  /** What is left to do at the next boundary of the server's frames. */
  #leaveAtBoundary: (() => void) | undefined;
  readonly #passUp = (bytes: Buffer) => {
    this.#on.passed('client', bytes.length);
    if (!this.#server.write(bytes)) this.#client.pause();
  };

  /** Nothing passes before `begin`. */
  constructor(client: Duplex, server: Duplex, on: TunnelObserver) {
    this.#client = client;
    this.#server = server;
    this.#on = on;
    // It may end before the client knows that there is a WebSocket.
    server.once('end', () => on.ended(this.#first));
    server.on('error', (error) => on.broken(error)).once('close', () => on.broken());
  }

  begin(): void {
    this.#client.on('data', this.#passUp).on('drain', () => this.#server.resume());
    this.#server.on('data', (bytes: Buffer) => this.#passDown(bytes)).on('drain', () => this.#client.resume());
    this.#client.once('end', () => this.#onClientEnd());
  }

  /**
   * Ends both sides.
   *
   * @param closing what the client is told; undefined: the server has ended the WebSocket
   * @param onLeft called when all is written that the client gets
   */
  leave(closing: Closing | undefined, onLeft: () => void): void {
    this.#client.off('data', this.#passUp).pause();
    clearTimeout(this.#timer);
    const end = (frame?: Buffer) => {
      this.#leaveAtBoundary = undefined;
      this.destroy();
      if (frame !== undefined && this.#client.writable) this.#client.write(frame);
      onLeft();
    };
    const frame = closing && closeFrame(closing);
    if (frame === undefined || this.#frames.areBetween) end(frame);
    else {
      this.#leaveAtBoundary = () => end(frame);
      // The server may never send the rest of its frame.
      this.#timer = setTimeout(end, limits.lingerTime);
    }
  }

  /** Breaks the connection to the server. */
  destroy(): void {
    clearTimeout(this.#timer);
    this.#server.destroy();
  }

  #passDown(bytes: Buffer): void {
    const isLeaving = this.#leaveAtBoundary !== undefined;
    const taken = this.#frames.pass(bytes, isLeaving);
    this.#on.passed('server', taken);
    if (!this.#client.write(bytes.subarray(0, taken))) this.#server.pause();
    if (isLeaving && this.#frames.areBetween) this.#leaveAtBoundary?.();
  }

  /** The server may still send, such as an answer to the last message. */
  #onClientEnd(): void {
    this.#first = 'client';
    this.#server.end();
    this.#timer = setTimeout(() => this.#on.ended('client'), limits.halfClosedTime);
  }
}
