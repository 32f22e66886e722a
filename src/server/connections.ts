import type { ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { limits } from '../limits.ts';
import { type Excess, parseInPieces, type Request } from './parsing.ts';
import { createTurns } from './turns.ts';

interface Connection {
  readonly socket: Socket;
  /** The responses in flight, in the order of sending. */
  readonly responses: Set<ServerResponse>;
  latest?: Request;
  /** Set once more requests came than may be in flight. */
  hasTooMany?: true;
  /** The socket of the requests: the connection's, or TLS's. */
  http: Socket;
  /** The bytes passed in both directions when the connection began to wait for its peer. */
  bytesBefore: number;
}

// The most connections to examine for each one beyond the limit.
const mostLooks = 512;

export type Connections = ReturnType<typeof limitConnections>;

/** Told about what exceeds the limits of connections. */
interface Excesses {
  /** Called when a connection was closed because there were too many. */
  tooMany(): void;
  /** Called once for a connection of which no more is parsed. Its last requests still have to be answered. */
  excess(reason: Excess, socket: Socket): void;
}

/**
 * Limits a server's connections. One too many replaces the one that has waited for its peer for longest: idle, for the
 * body of a request, or for the peer to take an answer. So peers that send or read nothing cannot exclude others. If
 * none waits, the new one is closed.
 *
 * Each connection has one request in the process at a time. A few more may wait behind it.
 */
export function limitConnections(server: Server, most: number, on: Excesses) {
  const connections = new WeakMap<Socket, Connection>();
  const turns = createTurns();
  const isSecure = 'setSecureContext' in server;
  const handshakes = new Map<string, Connection>();
  const queue = createQueue();
  let open = 0;
  let inFlight = 0;

  server.on('connection', (socket: Socket) => {
    turns.accepted();
    const connection: Connection = { socket, http: socket, responses: new Set(), bytesBefore: 0 };
    connections.set(socket, connection);
    if (!isSecure) parse(socket, connection);
    queue.add(connection);
    open += 1;
    const peer = isSecure ? peerOf(socket) : '';
    if (isSecure) handshakes.set(peer, connection);
    socket.once('close', () => {
      queue.delete(connection);
      handshakes.delete(peer);
      open -= 1;
      // Node.js closes only the first of them.
      inFlight -= connection.responses.size;
      connection.responses.clear();
    });
    if (open <= most) return;
    on.tooMany();
    const replaced = queue.findReplaceable() ?? connection;
    queue.delete(replaced);
    replaced.socket.destroy();
  });
  // TLS wraps the connection's socket in another one that does not expose it, but has the same peer.
  server.on('secureConnection', (secured: Socket) => {
    const connection = handshakes.get(peerOf(secured));
    if (connection === undefined) return;
    connections.set(secured, connection);
    connection.http = secured;
    parse(secured, connection);
  });

  function parse(socket: Socket, connection: Connection): void {
    parseInPieces(
      socket,
      () => connection.latest,
      () => {
        if (connection.hasTooMany) return 'pipelined_too_many';
        return connection.latest?.isCrumbled ? 'chunks_too_small' : undefined;
      },
      (reason) => on.excess(reason, socket),
      turns,
    );
  }

  return {
    /** The number of requests whose response has not been sent completely. */
    inFlight: () => inFlight,
    /** The socket below a TLS socket whose handshake failed. */
    unsecured: (secured: Socket): Socket | undefined => handshakes.get(peerOf(secured))?.socket,
    /** Whether the connection has reached HTTP, which with TLS is after the handshake. */
    has: (socket: Socket): boolean => connections.has(socket),
    /**
     * Tracks a request until its response is sent or the peer is gone.
     *
     * @param begin handles the request, once those before it on its connection are answered. It is not called if the
     *   connection has ended by then, or if too many wait
     */
    serve(request: Request, response: ServerResponse, begin: () => void): void {
      const connection = connections.get(request.socket);
      if (connection === undefined || connection.hasTooMany) return;
      const { responses, socket } = connection;
      const before = [...responses].at(-1);
      connection.latest = request;
      if (responses.size >= limits.requestsOfConnection) {
        connection.hasTooMany = true;
        return;
      }
      responses.add(response);
      inFlight += 1;
      queue.startWaiting(connection);
      response.once('close', () => {
        if (responses.delete(response)) inFlight -= 1;
        if (!socket.destroyed) queue.startWaiting(connection);
      });
      if (before === undefined) begin();
      // Other connections get their turn in between.
      else before.once('close', () => setImmediate(() => request.socket.writable && begin()));
    },
    /** The responses in flight on this connection, in the order of sending. */
    responsesOn: (socket: Socket): readonly ServerResponse[] => [...(connections.get(socket)?.responses ?? [])],
  };
}

/** All connections, ordered by how long they have waited for their peers, the longest first. */
function createQueue() {
  const waiting = new Set<Connection>();

  /** Moves a connection to the end of the queue. */
  function startWaiting(connection: Connection): void {
    connection.bytesBefore = bytesPassed(connection);
    waiting.delete(connection);
    waiting.add(connection);
  }

  /** The connection that has waited for its peer for longest, among those examined. */
  function findReplaceable(): Connection | undefined {
    // Bounds the time for a connection beyond the limit. The examined ones come last for the next one.
    let looks = Math.min(mostLooks, waiting.size);
    for (const connection of waiting) {
      if (looks === 0) break;
      looks -= 1;
      // The wait of a large upload or download that makes progress starts again.
      const goesOn = bytesPassed(connection) - connection.bytesBefore >= limits.requestBodySize;
      const isIdle = connection.responses.size === 0;
      if (isIdle || (waitsForPeer(connection) && !goesOn)) return connection;
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

/** The bytes that were read, and those that the peer has taken. */
function bytesPassed({ socket, http }: Connection): number {
  return socket.bytesRead + http.bytesWritten - http.writableLength;
}

/** Whether a connection waits for its peer: for the rest of a body, or for the peer to take an answer. */
function waitsForPeer({ responses, http }: Connection): boolean {
  const [response, ...pipelined] = responses;
  if (response === undefined) return false;
  // An event stream may have nothing to take.
  if (response.headersSent) return http.writableLength > 0;
  const { complete, readableLength } = response.req;
  // It waits for the relay if the request is complete, as it must be if others follow, or if unread bytes have arrived.
  return !complete && pipelined.length === 0 && readableLength === 0;
}

function peerOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
