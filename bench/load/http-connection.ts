import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** An answer, with the head as it came. */
export interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Where to connect to, and the authority to trust there; without one the connection is plain. */
export interface Address {
  readonly port: number;
  readonly authority?: string;
}

/**
 * A kept HTTP/1.1 connection that takes one request at a time. It does as little as it can, because
 * it shares its core with the provider.
 */
export class HttpConnection {
  readonly #socket: Socket;
  #pending: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;
  #received = '';

  private constructor(socket: Socket) {
    this.#socket = socket.setNoDelay(true).setEncoding('latin1');
    socket.on('data', (text: string) => this.#receive(text));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the connection was closed')));
  }

  static async open({ port, authority }: Address): Promise<HttpConnection> {
    if (authority !== undefined) {
      const socket = connectTls({ port, host: 'localhost', ca: authority });
      await once(socket, 'secureConnect');
      return new HttpConnection(socket);
    }
    const socket = connectPlain(port, '127.0.0.1');
    await once(socket, 'connect');
    return new HttpConnection(socket);
  }

  /** @param headers lines, each with its CRLF */
  send(method: string, target: string, headers = ''): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#socket.write(`${method} ${target} HTTP/1.1\r\nHost: localhost:8000\r\n${headers}\r\n`);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd === -1) return;
    const status = Number(this.#received.slice(9, 12));
    const head = this.#received.slice(0, headEnd + 2);
    const length = header(head, 'content-length');
    if (length === undefined && status !== 204) this.#fail(new Error(`no length: ${head}`));
    const end = headEnd + 4 + Number(length ?? 0);
    if (this.#received.length < end) return;
    const body = this.#received.slice(headEnd + 4, end);
    this.#received = this.#received.slice(end);
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.resolve({ status, head, body });
  }

  #fail(error: Error): void {
    this.#pending?.reject(error);
    this.#pending = undefined;
    this.#socket.destroy();
  }
}

/** @param name in lower case */
export function header(head: string, name: string): string | undefined {
  return headers(head, name)[0];
}

/** Every value of a header. @param name in lower case */
export function headers(head: string, name: string): string[] {
  const values: string[] = [];
  for (let start = head.indexOf('\r\n') + 2; start > 1; ) {
    const end = head.indexOf('\r\n', start);
    if (end === -1) break;
    const colon = start + name.length;
    if (head[colon] === ':' && head.slice(start, colon).toLowerCase() === name) {
      values.push(head.slice(colon + 1, end).trim());
    }
    start = end + 2;
  }
  return values;
}
