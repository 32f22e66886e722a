import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A relay that is ready, but resets the connection as soon as it has read a request. */
export class DyingRelay {
  /** The requested paths, without probes. */
  readonly requests: string[] = [];
  readonly #server: Server;

  static async start(): Promise<DyingRelay> {
    const dying = new DyingRelay();
    dying.#server.listen(0, '127.0.0.1');
    await once(dying.#server, 'listening');
    return dying;
  }

  private constructor() {
    this.#server = createServer(({ url = '', socket }, response) => {
      if (url === '/readyz') {
        response.end('{}');
        return;
      }
      this.requests.push(url.split('?')[0] ?? '');
      socket.resetAndDestroy();
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
