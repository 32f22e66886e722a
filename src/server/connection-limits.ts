import type { ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { type Limits, limits } from '../limits.ts';
import { createTurns } from './fair-turns.ts';
import { takeTurnsForHandshakes } from './handshakes.ts';
import { type Excess, parseInPieces, type Request } from './parsing.ts';

interface Connection {
  readonly socket: Socket;
  /** The responses in flight, in the order of sending. An array and no `Set`, for the reason in `in-flight.ts`. */
  readonly responses: ServerResponse[];
  latest?: Request;
  /** Set once the peer has sent more requests than may be in flight. */
  hasTooMany?: true;
  /** The socket that carries the requests: `socket`, or the one of TLS above it. */
  httpSocket: Socket;
  /** The bytes passed in both directions when the connection began to wait for its peer. */
  bytesBefore: number;
}

// The most connections to examine for each connection beyond the limit.
const mostExamined = 512;

export type Connections = ReturnType<typeof limitConnections>;

/** Learns which connections exceed a limit. */
interface ConnectionObserver {
  /** Called when a connection was closed because there are too many. */
  onTooMany(): void;
  /** Called when a connection was closed because its TLS handshake did not begin in time. */
  onNoHandshake(): void;
  /** Called once for a connection when no more of it is parsed. Its last requests still have to be answered. */
  onExcess(reason: Excess, socket: Socket): void;
}

/**
 * Limits a server's connections. A connection beyond the limit replaces the one that has waited longest for its peer:
 * for a request, for the body of a request, or until the peer takes a response. So peers that send or read nothing
 * cannot exclude others. If none waits, the new connection is closed.
 *
 * Each connection has one request in the process at a time. A few more may wait behind it.
 */
export function limitConnections(
  server: Server,
  { connections: most, handshakeTime }: Pick<Limits, 'handshakeTime'> & { readonly connections: number },
  observer: ConnectionObserver,
) {
  const connections = new WeakMap<Socket, Connection>();
  const turns = createTurns();
  const hasTls = 'setSecureContext' in server;
  const handshakes = new Map<string, Connection>();
  const queue = createQueue();
  let openConnections = 0;
  let requestsInFlight = 0;

  if (hasTls) takeTurnsForHandshakes(server, turns, handshakeTime, () => observer.onNoHandshake());
  server.on('connection', (socket: Socket) => {
    turns.onAccepted();
    const connection: Connection = { socket, httpSocket: socket, responses: [], bytesBefore: 0 };
    connections.set(socket, connection);
    if (!hasTls) parse(socket, connection);
    queue.add(connection);
    openConnections += 1;
    const peer = hasTls ? peerKey(socket) : '';
    if (hasTls) handshakes.set(peer, connection);
    socket.once('close', () => {
      queue.delete(connection);
      handshakes.delete(peer);
      openConnections -= 1;
      // Node.js closes only the first of the responses.
      requestsInFlight -= connection.responses.length;
      connection.responses.length = 0;
    });
    if (openConnections <= most) return;
    observer.onTooMany();
    const replaced = queue.findReplaceable() ?? connection;
    queue.delete(replaced);
    replaced.socket.destroy();
  });
  // The socket of TLS does not expose the one below.
  server.on('secureConnection', (secured: Socket) => {
    const connection = handshakes.get(peerKey(secured));
    if (connection === undefined) return;
    connections.set(secured, connection);
    connection.httpSocket = secured;
    parse(secured, connection);
  });

  /** Parses the requests of a connection. */
  function parse(socket: Socket, connection: Connection): void {
    parseInPieces(
      socket,
      () => connection.latest,
      () => {
        if (connection.hasTooMany) return 'pipelined_too_many';
        return connection.latest?.hasTooManySmallChunks ? 'chunks_too_small' : undefined;
      },
      (reason) => observer.onExcess(reason, socket),
      turns,
    );
  }

  return {
    /** The number of requests whose response has not been sent completely. */
    inFlight: () => requestsInFlight,
    /** The socket below a TLS socket whose handshake has failed. */
    socketBelowTls: (secured: Socket): Socket | undefined => handshakes.get(peerKey(secured))?.socket,
    /** Whether the connection has reached HTTP, which with TLS is after the handshake. */
    has: (socket: Socket): boolean => connections.has(socket),
    /**
     * Tracks a request until its response is sent or the peer is gone.
     *
     * @param handle handles the request. It is called once the earlier requests on the connection are answered, unless
     *   the connection has ended by then, or too many requests wait
     */
    serve(request: Request, response: ServerResponse, handle: () => void): void {
      const connection = connections.get(request.socket);
      if (connection === undefined || connection.hasTooMany) return;
      const { responses, socket } = connection;
      const previous = responses.at(-1);
      connection.latest = request;
      if (responses.length >= limits.requestsOfConnection) {
        connection.hasTooMany = true;
        return;
      }
      responses.push(response);
      requestsInFlight += 1;
      queue.startWaiting(connection);
      response.once('close', () => {
        const index = responses.indexOf(response);
        if (index !== -1) {
          responses.splice(index, 1);
          requestsInFlight -= 1;
        }
        if (!socket.destroyed) queue.startWaiting(connection);
      });
      if (previous === undefined) {
        handle();
        return;
      }
      const handleIfOpen = () => {
        if (request.socket.writable) handle();
      };
      // Other connections get their turn in between.
      previous.once('close', () => setImmediate(handleIfOpen));
    },
    /** The responses in flight on this connection, in the order of sending. */
    responsesOn: (socket: Socket): readonly ServerResponse[] => [...(connections.get(socket)?.responses ?? [])],
  };
}

/** All connections, ordered by how long they have waited for their peers, the longest first. */
function createQueue() {
  const waiting = new Set<Connection>();

  /** Moves a connection to the end of the queue, because its wait begins now. */
  function startWaiting(connection: Connection): void {
    connection.bytesBefore = bytesPassed(connection);
    waiting.delete(connection);
    waiting.add(connection);
  }

  /** Finds the connection that has waited longest for its peer, among those examined. */
  function findReplaceable(): Connection | undefined {
    // Bound the time for each connection beyond the limit. The examined ones move to the end, so the next search
    // examines others.
    let left = Math.min(mostExamined, waiting.size);
    for (const connection of waiting) {
      if (left === 0) break;
      left -= 1;
      const isIdle = connection.responses.length === 0;
      // The wait of a large upload or download that makes progress starts again.
      const makesProgress = bytesPassed(connection) - connection.bytesBefore >= limits.requestBodySize;
      if (isIdle || (waitsForPeer(connection) && !makesProgress)) return connection;
      startWaiting(connection);
    }
    return undefined;
  }

  return {
    add: (connection: Connection) => void waiting.add(connection),
    delete: (connection: Connection) => void waiting.delete(connection),
    startWaiting,
    findReplaceable,
  };
}

/** The number of bytes that were read, and that the peer has taken. */
function bytesPassed({ socket, httpSocket }: Connection): number {
  return socket.bytesRead + httpSocket.bytesWritten - httpSocket.writableLength;
}

/** Whether a connection waits for its peer: for the rest of a body, or until the peer takes a response. */
function waitsForPeer({ responses, httpSocket }: Connection): boolean {
  const [response, ...pipelined] = responses;
  if (response === undefined) return false;
  // An event stream may have nothing to take.
  if (response.headersSent) return httpSocket.writableLength > 0;
  const { complete, readableLength } = response.req;
  const isRequestComplete = complete || pipelined.length > 0;
  // With unread bytes, the connection waits for the relay.
  return !isRequestComplete && readableLength === 0;
}

/** Identifies a connection by its ends. TLS wraps the socket in another one, which has the same ends. */
function peerKey({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
