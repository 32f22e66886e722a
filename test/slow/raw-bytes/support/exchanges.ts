import { connect as connectHttp2 } from 'node:http2';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { RawConnection } from '../../../harness/client/raw-connection.ts';
import { key } from '../../../resources/support/websocket-relay.ts';
import { endingOf } from './frames.ts';
import { finalResponses, type Message, valuesOf } from './messages.ts';
import { claimed, smuggled, type Target } from './requests.ts';
import { type Got, RecordingUpstream } from './upstream.ts';

/** The request for a WebSocket. */
export const webSocketLines = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${key}`,
] as const;

/** The bytes that came back on a connection. */
export interface Heard {
  /** Complete final responses. */
  readonly responses: readonly Message[];
  /** The bytes after them. */
  readonly rest: string;
  readonly hasClosed: boolean;
}

/** A door of the relay, and whom it takes the requests for. */
export interface Door extends Target {
  readonly user: string;
}

/** Sends bytes to a server in front of one that records what it gets. */
export class Exchanges {
  readonly upstream = new RecordingUpstream();
  /** Who is honest. */
  protected honest = nowhere;
  #probes = 0;

  /**
   * Sends bytes, and after their answer an honest request on another connection.
   *
   * @param patience milliseconds to wait for an answer
   * @throws {Error} if the honest client does not get its own answer
   */
  async exchange(port: number, bytes: string, method: string, patience: number): Promise<Heard> {
    const connection = await RawConnection.open(port);
    connection.socket.write(bytes, 'latin1');
    await firstAnswer(connection, method, patience);
    await this.probe(port);
    const hasClosed = connection.socket.destroyed;
    connection.close();
    return { ...finalResponses(connection.heard, method, hasClosed), hasClosed };
  }

  /** Opens a WebSocket, and sends frames that do not wait for the answer. @returns the answer, if it has come in time */
  async openEarly(port: number, { host, path, credentials }: Door, frames: string, patience: number): Promise<Heard> {
    const lines = [`GET ${path}/case HTTP/1.1`, `Host: ${host}`, ...credentials, ...webSocketLines];
    return await this.exchange(port, `${lines.join('\r\n')}\r\n\r\n${frames}`, 'GET', patience);
  }

  /**
   * Sends a request whose answer is odd, then an honest one on the same connection if that is still open, and one on
   * another connection.
   *
   * @throws {Error} as `exchange` does, or if there is no answer
   */
  async ask(port: number, { host, path, credentials }: Door, method: string, headers: readonly string[]) {
    const connection = await RawConnection.open(port);
    const lines = [`${method} ${path}/case HTTP/1.1`, `Host: ${host}`, ...credentials, ...headers];
    connection.say(`${lines.join('\r\n')}\r\n\r\n`);
    if (!(await firstAnswer(connection, method, 60_000))) throw new Error('no answer');
    const { heard } = connection;
    const hasClosed = connection.socket.destroyed;
    const isOpen = !hasClosed && !/^connection: (?:close|upgrade)\r$/im.test(heard);
    if (isOpen) await this.probe(port, connection);
    await this.probe(port);
    connection.close();
    return { ...finalResponses(heard, method, hasClosed), hasClosed };
  }

  /** The requests that the server got from hostile clients since the last `forget`. */
  get got(): readonly Got[] {
    return this.upstream.got.filter(({ target }) => !target.includes('/honest-'));
  }

  /** Checks that no text of what the server has got can be read in several ways. */
  expectPlain(): void {
    for (const { line, headers } of this.got) {
      expect(line).to.match(/^[A-Z]+ \/[\x21-\x7e]* HTTP\/1\.1$/);
      for (const [, value] of headers) expect(value).to.match(/^[\t\x20-\x7e\x80-\xff]*$/);
    }
  }

  /** Checks that the server has got one request or none, from the person whom the relay has found. */
  expectOneAtMost({ user }: Door): void {
    const { got } = this;
    expect(this.upstream.violations.splice(0), 'malformed requests').to.deep.equal([]);
    const unchecked = got.filter(({ target }) => target.includes(smuggled));
    expect(unchecked, 'smuggled requests').to.deep.equal([]);
    expect(got, 'requests').to.have.length.below(2);
    for (const request of got) {
      expect(valuesOf(request, 'x-forwarded-user')).to.deep.equal([user]);
      expect(request.headers.filter(([, value]) => value === claimed)).to.deep.equal([]);
      expect(request.trailers).to.deep.equal([]);
    }
  }

  /**
   * Sends frames of HTTP/2, and after their answer an honest request on another connection.
   *
   * @param patience milliseconds to wait for an answer
   * @throws {Error} if the honest client does not get its own answer
   */
  async exchangeFrames(port: number, bytes: Buffer, patience: number) {
    const connection = await RawConnection.open(port);
    connection.socket.write(bytes);
    const ending = () => endingOf(Buffer.from(connection.heard, 'latin1'));
    const tooLate = delay(patience, 'late', { ref: false });
    while (!connection.socket.destroyed && ending() === undefined) {
      const next = new Promise((resolve) => connection.socket.once('data', resolve));
      if ((await Promise.race([next, connection.closed, tooLate])) === 'late') break;
    }
    await this.#probeByHttp2(port);
    connection.close();
    return ending();
  }

  async #probeByHttp2(port: number): Promise<void> {
    const { target, expected, host, credentials } = this.#nextProbe();
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    const lines = credentials.map((line) => line.split(': '));
    const sent = session.request({ ':path': target, ':authority': host, ...Object.fromEntries(lines) });
    const body = await text(sent);
    session.close();
    if (body !== expected) throw new Error(`the honest client has got ${JSON.stringify(body)}`);
  }

  /** An honest request, and its answer. */
  #nextProbe() {
    this.#probes += 1;
    const { host, path, credentials, user } = this.honest;
    const target = `${path}/honest-${this.#probes}`;
    return { target, expected: JSON.stringify({ target, user: [user] }), host, credentials };
  }

  /** Sends an honest request. @param on a connection that is open @throws {Error} if it does not get its own answer */
  async probe(port: number, on?: RawConnection): Promise<void> {
    const { target, expected, host, credentials } = this.#nextProbe();
    const connection = on ?? (await RawConnection.open(port));
    const { length } = connection.heard;
    const lines = [`GET ${target} HTTP/1.1`, `Host: ${host}`, ...credentials, 'Connection: close'];
    connection.say(`${lines.join('\r\n')}\r\n\r\n`);
    await connection.closed;
    const { responses, rest } = finalResponses(connection.heard.slice(length), 'GET', true);
    const [only] = responses;
    if (responses.length !== 1 || rest !== '' || only?.body !== expected) {
      throw new Error(`the honest client has got ${JSON.stringify(connection.heard)}`);
    }
  }
}

/** Waits until a connection has got a complete response, or is closed. @returns whether one of both has happened in time */
async function firstAnswer(connection: RawConnection, method: string, patience: number): Promise<boolean> {
  const tooLate = delay(patience, 'late', { ref: false });
  const isOver = () =>
    connection.socket.destroyed || finalResponses(connection.heard, method, false).responses.length > 0;
  while (!isOver()) {
    const next = new Promise((resolve) => connection.socket.once('data', resolve));
    if ((await Promise.race([next, connection.closed, tooLate])) === 'late') return false;
  }
  return true;
}

export const nowhere: Door = { host: '', path: '', credentials: [], user: '' };
