import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { type Limits, limits } from '../../../src/limits.ts';
import { type ListeningServer, listen } from '../../../src/server/server.ts';
import type { Certificate } from '../../../src/server/tls.ts';
import { RawConnection } from '../../harness/client/raw-connection.ts';
import { type Serving, serveTcp } from '../../harness/provider/serve.ts';
import type { RelayOfFile } from '../../harness/relay/relay-of-file.ts';
import { type GatewayRelay, gatewayRelay } from './gateway-relay.ts';

export const key = 'dGhlIHNhbXBsZSBub25jZQ==';

/** The answer to a key. @see RFC 6455 §4.2.2 */
const acceptOf = (given: string) =>
  createHash('sha1').update(`${given}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
export const accept = acceptOf(key);

/** The head of a 101, in which these lines replace lines of the same name. An empty line removes its line. */
export function switching(changes: Readonly<Record<string, string>> = {}): string {
  const lines = { Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Accept': accept, ...changes };
  const head = Object.entries(lines).flatMap(([name, value]) => (value === '' ? [] : [`${name}: ${value}\r\n`]));
  return `HTTP/1.1 101 Switching Protocols\r\n${head.join('')}\r\n`;
}

/**
 * A request that opens a WebSocket, in which these lines replace lines of the same name. An empty line removes its
 * line.
 */
export function opening(token: string | undefined, changes: Readonly<Record<string, string>> = {}, line = ''): string {
  const lines = {
    Host: 'notes.example.com',
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    Upgrade: 'websocket',
    Connection: 'Upgrade',
    'Sec-WebSocket-Key': key,
    'Sec-WebSocket-Version': '13',
    ...changes,
  };
  const head = Object.entries(lines).flatMap(([name, value]) => (value === '' ? [] : [`${name}: ${value}\r\n`]));
  return `${line || 'GET /mcp HTTP/1.1'}\r\n${head.join('')}\r\n`;
}

/** A frame of a server with this text. */
export function frame(text: string): Buffer {
  const payload = Buffer.from(text, 'latin1');
  const { length } = payload;
  if (length < 126) return Buffer.concat([Buffer.from([0x81, length]), payload]);
  const header = Buffer.alloc(length < 65_536 ? 4 : 10);
  header.writeUInt8(0x81, 0);
  header.writeUInt8(length < 65_536 ? 126 : 127, 1);
  if (length < 65_536) header.writeUInt16BE(length, 2);
  else header.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([header, payload]);
}

/** A close frame of the relay, as `RawConnection` hears it. */
export function closing(code: number, reason: string): string {
  const head = Buffer.from([0x88, 2 + reason.length, code >> 8, code & 0xff]);
  return head.toString('latin1') + reason;
}

/** Opens a port of a relay where WebSockets pass, with these limits. */
export async function listenFor(
  relay: RelayOfFile,
  changes: Partial<Limits> = {},
  certificate?: Certificate,
): Promise<ListeningServer> {
  return await listen(
    (request, response) => relay.handle(request, response),
    { host: '127.0.0.1', port: 0 },
    { ...limits, stopTime: 1_000, stopIdleTime: 10, ...changes, connections: 1_000 },
    { unreadableRequest() {}, limitHit() {} },
    certificate,
    () => true,
  );
}

/** A connection that the server behind the relay has got. */
export interface Behind {
  readonly socket: Socket;
  /** All that it was sent, each byte as a character. */
  readonly heard: () => string;
  /** Resolves once this text was heard, also if the connection has closed after it. */
  hear(text: string): Promise<void>;
  readonly closed: Promise<unknown>;
}

/** The relay in front of a server that says what the test says, with the connections of the real server. */
export class WebSocketRelay {
  readonly relay: () => GatewayRelay;
  readonly #servers: ListeningServer[] = [];
  readonly #connections: RawConnection[] = [];
  #server: Serving | undefined;
  #waiting: ((behind: Behind) => void)[] = [];
  #came: Behind[] = [];

  constructor(relay: () => GatewayRelay) {
    this.relay = relay;
  }

  /** The number of connections that the server has got, and that the test has not seen. */
  get unseen(): number {
    return this.#came.length;
  }

  get behindPort(): number {
    return this.#server?.port ?? 0;
  }

  async begin(): Promise<void> {
    this.#server = await serveTcp((socket) => this.#onConnection(socket));
    await this.relay().reload(this.relay().settings({}, this.behindPort));
    this.relay().lines.length = 0;
  }

  async end(): Promise<void> {
    for (const one of this.#connections.splice(0)) one.close();
    await this.#server?.close();
    await Promise.all(this.#servers.splice(0).map((one) => one.close()));
    this.#came = [];
    this.#waiting = [];
  }

  /** Opens a port of the relay, with these limits. */
  async listen(changes: Partial<Limits> = {}, certificate?: Certificate): Promise<ListeningServer> {
    const server = await listenFor(this.relay(), changes, certificate);
    this.#servers.push(server);
    return server;
  }

  /** Connects to a port of the relay, a new one by default. */
  async connect(server?: ListeningServer): Promise<RawConnection> {
    const { address } = server ?? (await this.listen());
    const connection = await RawConnection.open(Number(new URL(address).port));
    this.#connections.push(connection);
    return connection;
  }

  /** The next connection that the server behind the relay gets, or has got. */
  async behind(): Promise<Behind> {
    const came = this.#came.shift();
    return came ?? (await new Promise((resolve) => this.#waiting.push(resolve)));
  }

  /** Opens a WebSocket on both sides. */
  async open(token: string, server?: ListeningServer) {
    const client = await this.connect(server);
    client.say(opening(token));
    const refused = client.closed.then((): never => {
      throw new Error(`not opened: ${client.heard}`);
    });
    const behind = await Promise.race([this.behind(), refused]);
    await behind.hear('\r\n\r\n');
    behind.socket.write(switching());
    await client.hear('\r\n\r\n');
    const { length } = client.heard;
    /** The bytes after the head. */
    const got = () => client.heard.slice(length);
    return { client, behind, got };
  }

  #onConnection(socket: Socket): void {
    let heard = '';
    socket.on('data', (bytes: Buffer) => {
      heard += bytes.toString('latin1');
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const behind: Behind = {
      socket,
      heard: () => heard,
      closed,
      async hear(text) {
        while (!heard.includes(text)) {
          const next = new Promise((resolve) => socket.once('data', resolve));
          await Promise.race([next, closed]);
          if (socket.destroyed && !heard.includes(text)) throw new Error(`closed after: ${heard}`);
        }
      },
    };
    const next = this.#waiting.shift();
    if (next === undefined) this.#came.push(behind);
    else next(behind);
  }
}

/** A {@link WebSocketRelay} for the enclosing `describe`. */
export function webSocketRelay(surroundings?: Parameters<typeof gatewayRelay>[0]): WebSocketRelay {
  const one = new WebSocketRelay(gatewayRelay(surroundings));
  beforeEach(() => one.begin());
  afterEach(() => one.end());
  return one;
}
