import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A company's proxy. Other hosts can be reached only through it. */
export class ForwardProxy {
  /** The targets of its tunnels (`host:port`), in order. */
  readonly tunnels: string[] = [];
  /** The connections that were opened to it. */
  connections = 0;
  /** Whether it accepts CONNECT requests but never answers them. */
  silent = false;
  /** The credentials that every request must have: `name:password`. */
  credentials: string | undefined;
  readonly #server = createServer();
  readonly #world: Readonly<Record<string, number>>;
  readonly #sockets = new Set<Socket>();

  private constructor(world: Readonly<Record<string, number>>) {
    this.#world = world;
    this.#server.on('connection', (socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('connect', (request, socket: Duplex, head: Buffer) =>
      this.#tunnel(request, socket, head),
    );
  }

  /** @param world the ports of this machine that represent `host:port` elsewhere */
  static async start(world: Readonly<Record<string, number>>): Promise<ForwardProxy> {
    const proxy = new ForwardProxy(world);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Its URL, as in the proxy variables. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  forget(): void {
    this.tunnels.length = 0;
    this.connections = 0;
    this.credentials = undefined;
    this.silent = false;
  }

  /** Breaks every connection and tunnel. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.drop();
    await closed;
  }

  #tunnel(request: IncomingMessage, client: Duplex, head: Buffer): void {
    const target = request.url ?? '';
    this.tunnels.push(target);
    client.on('error', () => {});
    if (this.silent) return;
    if (!this.#admits(request)) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const port = this.#world[target];
    if (port === undefined) {
      client.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const server = connect(port, '127.0.0.1');
    this.#sockets.add(server);
    server.on('error', () => client.destroy());
    server.on('close', () => {
      this.#sockets.delete(server);
      client.destroy();
    });
    client.on('close', () => server.destroy());
    server.on('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      server.write(head);
      server.pipe(client).pipe(server);
    });
  }

  #admits({ headers }: IncomingMessage): boolean {
    const [, given = ''] = headers['proxy-authorization']?.split(' ') ?? [];
    const credentials = Buffer.from(given, 'base64').toString();
    return this.credentials === undefined || credentials === this.credentials;
  }
}
