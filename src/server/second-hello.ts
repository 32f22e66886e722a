import type { Server, Socket } from 'node:net';
import { clientOf, peerKey } from './peers.ts';

/** The handshakes of one client address that wait for a second hello at the same time. */
const mostPerClient = 8;

/**
 * Limits the handshakes of each client that wait for a second hello. TLS reads a second hello itself, without a turn
 * (handshakes.ts), and it costs as much as a handshake. So a client could send three thousand first hellos in turns, and
 * then all second hellos at once, and would keep everybody else waiting for seconds.
 */
export function limitSecondHellos(server: Server) {
  const holders = new Map<string, Set<string>>();
  const waiting = new Map<string, Map<Socket, () => void>>();

  /** Begins a handshake. Its place is free again when it or its connection has ended. */
  function begin(socket: Socket, client: string, proceed: () => void): void {
    const peer = peerKey(socket);
    holders.set(client, (holders.get(client) ?? new Set()).add(peer));
    socket.once('close', () => leave(client, peer));
    proceed();
  }

  function leave(client: string, peer: string): void {
    const held = holders.get(client);
    if (held?.delete(peer) !== true) return;
    if (held.size === 0) holders.delete(client);
    const [next] = waiting.get(client) ?? [];
    if (next === undefined) return;
    const [socket, proceed] = next;
    stopWaiting(client, socket);
    begin(socket, client, proceed);
  }

  function stopWaiting(client: string, socket: Socket): void {
    const sockets = waiting.get(client);
    sockets?.delete(socket);
    if (sockets?.size === 0) waiting.delete(client);
  }

  server.on('secureConnection', (secured: Socket) => leave(clientOf(secured), peerKey(secured)));
  return {
    /** Calls `proceed` as soon as fewer handshakes of the client wait. The socket must be paused. */
    whenPlaceIsFree(socket: Socket, proceed: () => void): void {
      const client = clientOf(socket);
      if ((holders.get(client)?.size ?? 0) < mostPerClient) {
        begin(socket, client, proceed);
        return;
      }
      waiting.set(client, (waiting.get(client) ?? new Map()).set(socket, proceed));
      socket.once('close', () => stopWaiting(client, socket));
    },
  };
}
