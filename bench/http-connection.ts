import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An answer with its raw header section. */
export interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/**
 * A keep-alive HTTP/1.1 connection with one request at a time. It uses little CPU time, because it shares
 * its core with the provider.
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

  static async open(port: number): Promise<HttpConnection> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new HttpConnection(socket);
  }

  /** @param headers lines, each with its CRLF */
  send(method: string, target: string, headers = '', body = ''): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      const head = `${method} ${target} HTTP/1.1\r\nHost: localhost:8000\r\n${headers}\r\n`;
      this.#socket.write(head + body);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd === -1) return;
    const head = this.#received.slice(0, headEnd + 2);
    const end = headEnd + 4 + Number(headers(head, 'content-length')[0]);
    if (Number.isNaN(end)) this.#fail(new Error(`no length: ${head}`));
    if (this.#received.length < end) return;
    const body = this.#received.slice(headEnd + 4, end);
    this.#received = this.#received.slice(end);
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.resolve({ status: Number(head.slice(9, 12)), head, body });
  }

  #fail(error: Error): void {
    this.#pending?.reject(error);
    this.#pending = undefined;
    this.#socket.destroy();
  }
}

/** Every value of a header. @param name in lower case */
export function headers(head: string, name: string): string[] {
  const lines = head.split('\r\n').filter((line) => line.toLowerCase().startsWith(`${name}:`));
  return lines.map((line) => line.slice(name.length + 1).trim());
}
