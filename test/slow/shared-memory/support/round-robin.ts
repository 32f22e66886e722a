import { once } from 'node:events';
import { Agent, request as ask, createServer } from 'node:http';

/** A balancer that gives each request to the next relay. */
export class RoundRobin {
  /** The path whose next successful answer gets lost. */
  loses: string | undefined;
  readonly #ports: readonly number[];
  readonly #agent = new Agent({ keepAlive: false });
  #turn = 0;

  private constructor(ports: readonly number[]) {
    this.#ports = ports;
  }

  static async start(port: number, ports: readonly number[]): Promise<RoundRobin> {
    const balancer = new RoundRobin(ports);
    balancer.#server.listen(port, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  readonly #server = createServer((request, response) => {
    const { method, url: path = '', headers } = request;
    this.#turn += 1;
    const port = this.#ports[this.#turn % this.#ports.length];
    const passed = ask({ port, method, path, headers, agent: this.#agent }, (answer) => {
      if (answer.statusCode === 200 && method === 'POST' && path === this.loses) {
        this.loses = undefined;
        request.socket.destroy();
        answer.resume();
        return;
      }
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => request.socket.destroy());
    request.pipe(passed);
  });
}
