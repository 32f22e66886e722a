import type { Socket } from 'node:net';
import { networkOf } from '../http/subscriber.ts';

/** The number of reads that are handled in one turn of the event loop. */
const mostReads = 64;
/** After so many reads, the end of the turn is awaited. To await each would cost a tenth of a login. */
const fewReads = 16;
/** The same while connections come: libuv accepts one in each turn. */
const readsWhileAccepting = 8;

export type Turns = ReturnType<typeof createTurns>;

/**
 * Shares the turns of the event loop among the connections of a server. As long as a thousand are ready at once, libuv
 * reads them again and again before it lets new connections, timers and immediates have their turn. So one client with
 * a thousand busy connections would shut out everybody else for seconds. And as many new ones would be accepted first,
 * one in each turn.
 *
 * A turn handles a limited number of reads. The other connections are paused, and the next turns take one of each client
 * address after the other.
 */
export function createTurns() {
  let left = mostReads;
  let isAwaited = false;
  let isAccepting = false;
  /** Paused connections, by their client addresses. */
  const waiting = new Map<string, Set<Socket>>();

  function begin(): void {
    isAwaited = false;
    left = isAccepting ? readsWhileAccepting : mostReads;
    isAccepting = false;
    for (let resumed = 0; resumed < left; resumed += 1) {
      const [first] = waiting;
      if (first === undefined) return;
      const [client, sockets] = first;
      const [socket] = sockets;
      waiting.delete(client);
      if (socket !== undefined) sockets.delete(socket);
      if (sockets.size > 0) waiting.set(client, sockets);
      // It is read again before anything new.
      socket?.resume();
    }
    if (waiting.size > 0) awaitEnd();
  }

  function awaitEnd(): void {
    if (isAwaited) return;
    isAwaited = true;
    setImmediate(begin);
  }

  return {
    /** Notes that a connection was accepted. */
    accepted(): void {
      isAccepting = true;
      awaitEnd();
    },
    /** Whether a read of a connection may be handled now. Otherwise, the connection is paused until its turn. */
    takes(socket: Socket): boolean {
      if (left <= mostReads - fewReads) awaitEnd();
      if (left > 0) {
        left -= 1;
        return true;
      }
      const client = clientOf(socket);
      const sockets = waiting.get(client) ?? new Set();
      waiting.set(client, sockets.add(socket));
      socket.pause();
      return false;
    },
  };
}

const clientOf = ({ remoteAddress }: Socket) => (remoteAddress === undefined ? '' : networkOf(remoteAddress));
