import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { tlsPorts } from '../system/variant.ts';

/** A TCP connection that sends the given bytes, and stores the bytes that it receives. */
export class RawConnection {
  readonly socket: Socket;
  /** Resolves once either side has closed the connection. */
  readonly closed: Promise<unknown>;
  #heard = '';

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1').on('data', (text: string) => {
      this.#heard += text;
    });
    // A reset is one way of being closed.
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => socket.once('close', resolve));
  }

  /** Connects to this port of 127.0.0.1. */
  static async open(port: number): Promise<RawConnection> {
    const isTls = tlsPorts.has(port);
    const to = { port, host: '127.0.0.1', rejectUnauthorized: false };
    const socket = isTls ? connectTls(to) : connect(to);
    const connection = new RawConnection(socket);
    await once(socket, isTls ? 'secureConnect' : 'connect');
    return connection;
  }

  get heard(): string {
    return this.#heard;
  }

  say(text: string): this {
    this.socket.write(text);
    return this;
  }

  /** Resolves once this text was received so many times. Rejects if the connection closes earlier. */
  async hear(text: string, times = 1): Promise<void> {
    const isHeard = () => this.#heard.split(text).length > times;
    while (!isHeard()) {
      await Promise.race([once(this.socket, 'data'), this.closed]);
      if (this.socket.destroyed && !isHeard()) throw new Error(`closed after: ${this.#heard}`);
    }
  }

  close(): void {
    this.socket.destroy();
  }
}
