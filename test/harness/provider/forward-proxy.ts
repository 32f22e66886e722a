import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type Serving, serveTunnels } from './serve.ts';

/** A company's proxy. Other hosts can be reached only through it. */
export class ForwardProxy {
  /** The targets of its tunnels (`host:port`), in order. */
  readonly tunnels: string[] = [];
  /** Whether it accepts CONNECT requests but never answers them. */
  silent = false;
  /** The credentials that every request must have: `name:password`. */
  credentials: string | undefined;
  readonly #world: Readonly<Record<string, number>>;
  readonly #serving: Serving;
  #forgotten = 0;

  private constructor(world: Readonly<Record<string, number>>, serving: Serving) {
    this.#world = world;
    this.#serving = serving;
  }

  /** @param world the ports of this machine that represent `host:port` elsewhere */
  static async start(world: Readonly<Record<string, number>>): Promise<ForwardProxy> {
    const serving = await serveTunnels((...tunnel) => proxy.#tunnel(...tunnel));
    const proxy = new ForwardProxy(world, serving);
    return proxy;
  }

  /** Its URL, as in the proxy variables. */
  get url(): string {
    return `http://127.0.0.1:${this.#serving.port}`;
  }

  /** The number of connections that were opened to it. */
  get connections(): number {
    return this.#serving.connections - this.#forgotten;
  }

  forget(): void {
    this.tunnels.length = 0;
    this.#forgotten = this.#serving.connections;
    this.credentials = undefined;
    this.silent = false;
  }

  /** Breaks every connection and tunnel. */
  drop(): void {
    for (const socket of this.#serving.sockets) socket.destroy();
  }

  async close(): Promise<void> {
    await this.#serving.close();
  }

  #tunnel(client: Socket, request: IncomingMessage, head: Buffer): void {
    const target = request.url ?? '';
    this.tunnels.push(target);
    if (this.silent) return;
    const port = this.#world[target];
    if (!this.#admits(request) || port === undefined) {
      const status = port === undefined ? '502 Bad Gateway' : '407 Proxy Authentication Required';
      client.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const server = connect(port, '127.0.0.1');
    server.on('error', () => client.destroy());
    server.on('close', () => client.destroy());
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
