import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { registration } from './registration.ts';

/** An answer with its raw header section. */
export interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** The server has closed a connection before it answered anything. */
class ClosedConnection extends Error {
  override readonly message = 'the connection was closed';
}

/**
 * A keep-alive HTTP/1.1 connection with one request at a time. It uses little CPU time, because it shares
 * its core with the provider. Servers close connections that are idle, the relay after 10 s without a first
 * request. On a busy machine this can happen during a measurement, so that it connects again, as browsers do.
 */
export class HttpConnection {
  readonly #port: number;
  readonly #host: string;
  #socket: Socket | undefined;
  #pending: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;
  #received = '';

  private constructor(port: number, host: string) {
    this.#port = port;
    this.#host = host;
  }

  /** @param host the server's public name, for its `Host` header */
  static async open(port: number, host = new URL(registration.baseUrl).host): Promise<HttpConnection> {
    const connection = new HttpConnection(port, host);
    await connection.#connect();
    return connection;
  }

  /** @param headers lines, each with its CRLF */
  async send(method: string, target: string, headers = '', body = ''): Promise<Answer> {
    const request = `${method} ${target} HTTP/1.1\r\nHost: ${this.#host}\r\n${headers}\r\n${body}`;
    try {
      return await this.#exchange(request);
    } catch (error) {
      if (!(error instanceof ClosedConnection)) throw error;
      await this.#connect();
      return await this.#exchange(request);
    }
  }

  close(): void {
    this.#socket?.destroy();
  }

  async #connect(): Promise<void> {
    const socket = connect(this.#port, '127.0.0.1');
    await once(socket, 'connect');
    this.#socket = socket.setNoDelay(true).setEncoding('latin1');
    socket.on('data', (text: string) => this.#receive(text));
    socket.on('error', () => {});
    socket.on('close', () => {
      if (socket === this.#socket) this.#fail(this.#closed());
    });
  }

  #exchange(request: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      if (this.#socket?.writable) this.#socket.write(request);
      else this.#fail(this.#closed());
    });
  }

  #closed(): Error {
    return this.#received === '' ? new ClosedConnection() : new Error('the connection was closed within an answer');
  }

  #receive(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd === -1) return;
    const head = this.#received.slice(0, headEnd + 2);
    // 204 has no body, and no length.
    const length = head.startsWith('HTTP/1.1 204') ? 0 : headers(head, 'content-length')[0];
    const end = headEnd + 4 + Number(length);
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
    this.#socket?.destroy();
  }
}

/** Every value of a header. @param name in lower case */
export function headers(head: string, name: string): string[] {
  const lines = head.split('\r\n').filter((line) => line.toLowerCase().startsWith(`${name}:`));
  return lines.map((line) => line.slice(name.length + 1).trim());
}

/** The Cookie header that a browser sends after these answers, if it has cookies. */
export function cookieHeader(answers: readonly Answer[]): string {
  const jar = new Map<string, string>();
  for (const cookie of answers.flatMap(({ head }) => headers(head, 'set-cookie'))) {
    const [pair = ''] = cookie.split(';');
    const name = pair.slice(0, pair.indexOf('='));
    if (/; *max-age=0/i.test(cookie)) jar.delete(name);
    else jar.set(name, pair);
  }
  return jar.size === 0 ? '' : `Cookie: ${[...jar.values()].join('; ')}\r\n`;
}
