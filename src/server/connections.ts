import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';

interface Connection {
  readonly socket: Socket;
  /** Answers that are being made or taken, one unless the client sends requests ahead. */
  readonly underWay: Set<ServerResponse>;
}

/** The connections of a server, of which it keeps no more than it should. */
export interface Connections {
  /** Takes note of a request until its answer is out, or the client gone. */
  serve(request: IncomingMessage, response: ServerResponse): void;
  /** How many requests were taken and have no whole answer yet. */
  inFlight(): number;
  /** Whether HTTP is spoken on it: with TLS, not before the end of the handshake. */
  has(socket: Socket): boolean;
  /** Whether a request of this connection is under way. */
  isBusy(socket: Socket): boolean;
  /** Whether an answer on this connection has begun and not ended. */
  isAnswering(socket: Socket): boolean;
  /**
   * Calls back once every request that has arrived whole on this connection is answered: at once where
   * none is under way.
   */
  afterAnswers(socket: Socket, act: () => void): void;
}

/**
 * Keeps a server's connections below a number: a new one takes the place of the one that has been
 * idle for longest, so that whoever holds connections and asks for nothing shuts nobody out. Where
 * a request is under way on each of them, the new one is closed.
 *
 * @param onLimit called whenever a connection is closed for another, or for the lack of one
 */
export function limitConnections(server: Server, most: number, onLimit: () => void): Connections {
  const connections = new WeakMap<Socket, Connection>();
  // In the order in which they fell idle.
  const idle = new Set<Connection>();
  let open = 0;
  let inFlight = 0;

  server.on('connection', (socket: Socket) => {
    const connection = { socket, underWay: new Set<ServerResponse>() };
    connections.set(socket, connection);
    idle.add(connection);
    open += 1;
    socket.once('close', () => {
      idle.delete(connection);
      open -= 1;
    });
    if (open <= most) return;
    onLimit();
    const [longestIdle = connection] = idle;
    idle.delete(longestIdle);
    longestIdle.socket.destroy();
  });
  if (isSecure(server)) followHandshakes(server, connections);

  return {
    inFlight: () => inFlight,
    has: (socket) => connections.has(socket),
    serve(request, response) {
      const connection = connections.get(request.socket);
      if (connection === undefined) return;
      const { underWay, socket } = connection;
      underWay.add(response);
      inFlight += 1;
      idle.delete(connection);
      response.once('close', () => {
        inFlight -= 1;
        underWay.delete(response);
        if (underWay.size === 0 && !socket.destroyed) idle.add(connection);
      });
    },
    isBusy: (socket) => (connections.get(socket)?.underWay.size ?? 0) > 0,
    isAnswering(socket) {
      const underWay = connections.get(socket)?.underWay ?? [];
      return [...underWay].some(({ headersSent }) => headersSent);
    },
    afterAnswers(socket, act) {
      const underWay = connections.get(socket)?.underWay ?? [];
      // Answers go out in the order of their requests.
      const last = [...underWay].findLast(({ req, headersSent }) => req.complete || headersSent);
      if (last === undefined) act();
      else last.once('close', act);
    },
  };
}

function isSecure(server: Server): boolean {
  return 'setSecureContext' in server;
}

// TLS wraps a connection's socket into another, which does not tell what it wraps.
function followHandshakes(server: Server, connections: WeakMap<Socket, Connection>): void {
  const handshakes = new Map<string, Connection>();
  server.on('connection', (socket: Socket) => {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    const peer = peerOf(socket);
    handshakes.set(peer, connection);
    socket.once('close', () => handshakes.delete(peer));
  });
  server.on('secureConnection', (secured: Socket) => {
    const connection = handshakes.get(peerOf(secured));
    if (connection) connections.set(secured, connection);
  });
}

function peerOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
