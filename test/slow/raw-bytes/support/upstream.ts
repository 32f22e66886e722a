import type { Socket } from 'node:net';
import { type Serving, serveTcp } from '../../../harness/provider/serve.ts';
import { type Message, takeMessage, valuesOf } from './messages.ts';

/** A request that the server behind the relay has got. */
export interface Got extends Message {
  readonly method: string;
  readonly target: string;
}

/** A server that reads the framing as strictly as RFC 9112 permits, records all that it gets, and writes the bytes that it is told to. */
export class RecordingUpstream {
  /** The requests since the last `forget`. */
  readonly got: Got[] = [];
  /** The received bytes that are not a request of the relay. */
  readonly violations: string[] = [];
  /**
   * The bytes that are sent instead of an answer, by the request. If undefined, an ordinary answer is sent, and if
   * empty, nothing.
   */
  answer: (request: Got) => { readonly bytes: string; readonly closes: boolean } | undefined = () => undefined;
  /** All that came on connections that speak no HTTP any more. */
  afterSwitch = '';
  #server: Serving | undefined;

  get port(): number {
    return this.#server?.port ?? 0;
  }

  async start(): Promise<void> {
    this.#server = await serveTcp((socket) => this.#serve(socket));
  }

  async stop(): Promise<void> {
    await this.#server?.close();
  }

  forget(): void {
    this.got.length = 0;
    this.afterSwitch = '';
    this.answer = () => undefined;
  }

  #serve(socket: Socket): void {
    let unread = '';
    let hasSwitched = false;
    socket.setEncoding('latin1').on('data', (text: string) => {
      if (hasSwitched) {
        this.afterSwitch += text;
        return;
      }
      unread += text;
      try {
        for (let taken = takeRequest(unread); taken !== undefined; taken = takeRequest(unread)) {
          unread = taken.rest;
          hasSwitched = this.#answer(taken.request, socket);
          // The relay sends one request at a time, and nothing before a 101.
          if (unread !== '') throw new Error(`after a request: ${JSON.stringify(unread)}`);
        }
      } catch (error) {
        this.violations.push(`${error} in ${JSON.stringify(unread)}`);
        socket.destroy();
      }
    });
  }

  /** @returns whether the connection speaks no HTTP any more */
  #answer(request: Got, socket: Socket): boolean {
    this.got.push(request);
    const told = this.answer(request);
    const answer = told ?? { bytes: ordinaryAnswer(request), closes: false };
    if (answer.closes) socket.end(answer.bytes, 'latin1');
    else socket.write(answer.bytes, 'latin1');
    return /^HTTP\/1\.1 101 /m.test(answer.bytes);
  }
}

/** Says what the request was, and for whom. */
function ordinaryAnswer(request: Got): string {
  const body = JSON.stringify({ target: request.target, user: valuesOf(request, 'x-forwarded-user') });
  const isHead = request.method === 'HEAD';
  return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${isHead ? '' : body}`;
}

function takeRequest(bytes: string): { request: Got; rest: string } | undefined {
  const taken = takeMessage(bytes, () => true);
  if (taken === undefined) return undefined;
  const { message, rest } = taken;
  const [, method, target] = /^(\S+) (\S+) HTTP\/1\.1$/.exec(message.line) ?? [];
  if (method === undefined || target === undefined) throw new Error(`no request line: ${message.line}`);
  return { request: { ...message, method, target }, rest };
}
