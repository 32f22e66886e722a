import { once } from 'node:events';
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type ws as Socket, wsServer as SocketServer } from 'playwright-core/lib/utilsBundle';

/** Milliseconds between two events of a stream, and two messages of a WebSocket. */
const beat = 200;
/** Milliseconds that the answers to requests take, in turn. */
const times = [0, 50, 200, 1_000, 2_000];

/**
 * An application with events at `…/events`, WebSockets, and answers that take up to two seconds. It counts how often it has
 * got each request.
 */
export class BusyApplication {
  /** How often each request has come, by the last segment of its path. */
  readonly came = new Map<string, number>();
  readonly #server: HttpServer;
  readonly #sockets = new SocketServer({ noServer: true });
  #turn = 0;

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.on('upgrade', (request, socket, head) => {
      this.#sockets.handleUpgrade(request, socket, head, beatOn);
    });
  }

  static async start(): Promise<BusyApplication> {
    const application = new BusyApplication();
    application.#server.listen(0, '127.0.0.1');
    await once(application.#server, 'listening');
    return application;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** The WebSockets that are open here. */
  get sockets(): number {
    return this.#sockets.clients.size;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.url?.split('/').at(-1) ?? '';
    request.resume();
    if (id === 'events') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      let sent = 0;
      const timer = setInterval(() => {
        sent += 1;
        response.write(`data: ${sent}\n\n`);
      }, beat);
      response.once('close', () => clearInterval(timer));
      return;
    }
    this.came.set(id, (this.came.get(id) ?? 0) + 1);
    this.#turn += 1;
    await delay(times[this.#turn % times.length] ?? 0);
    response.end(id);
  }
}

function beatOn(socket: Socket): void {
  let sent = 0;
  const timer = setInterval(() => {
    sent += 1;
    socket.send(`${sent}`);
  }, beat);
  socket.on('close', () => clearInterval(timer));
  socket.on('error', () => {});
}
