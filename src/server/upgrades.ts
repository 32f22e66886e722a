import { type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closeLingering } from '../http/body.ts';
import type { Request } from './parsing.ts';

const switchingProtocols = 101;

/**
 * The response to a request that opens a WebSocket. Node.js has given the connection away, and no longer parses it, so
 * that bytes after the request are never taken for another request. Any status but 101 closes the connection.
 */
export class UpgradeResponse extends ServerResponse<Request> {
  /** The connection, which speaks WebSocket after the head of a 101. Until then, nothing reads it. */
  readonly client: Socket;

  constructor(request: Request, client: Socket) {
    super(request);
    this.client = client;
    this.shouldKeepAlive = false;
    this.assignSocket(client);
    client.on('drain', () => this.emit('drain'));
    // A client that closes before the response does not wait for it.
    client.once('end', () => {
      if (!this.hasSwitched) client.end();
    });
    this.once('finish', () => this.#closeConnection());
  }

  get hasSwitched(): boolean {
    return this.headersSent && this.statusCode === switchingProtocols;
  }

  /** Ends the connection after the response, and tells the server that the response has closed. */
  #closeConnection(): void {
    const { client } = this;
    // The rest of a WebSocket was written to the connection, and not to the response.
    client.end(() => closeLingering(client));
    if (client.destroyed) return;
    this.detachSocket(client);
    this.emit('close');
  }
}

export type Upgrades = ReturnType<typeof serveUpgrades>;

/**
 * Passes the requests that the server upgrades to the listener, with an {@link UpgradeResponse}.
 *
 * @param closeIfSlow called when nothing has passed on a connection for the time of an answer
 */
export function serveUpgrades(
  server: Server,
  listener: (request: Request, response: UpgradeResponse) => void,
  closeIfSlow: (client: Socket) => void,
) {
  const clients = new Set<Socket>();
  server.on('upgrade', (request: Request, client: Socket, head: Buffer) => {
    clients.add(client);
    client.once('close', () => clients.delete(client));
    // After an error, the connection closes. Without a listener, the error would end the process.
    client.on('error', () => {});
    client.on('timeout', () => closeIfSlow(client));
    const response = new UpgradeResponse(request, client);
    // After this event, Node.js puts the rest of a read back into the connection. The head belongs before it.
    process.nextTick(() => {
      if (client.destroyed) return;
      if (head.length > 0) client.unshift(head);
      listener(request, response);
    });
  });
  return {
    /** Breaks all connections. The server itself does not know them any more. */
    closeAll(): void {
      for (const client of clients) client.destroy();
    },
  };
}
