import type { Socket } from 'node:net';
import { toNetwork } from '../http/client-address.ts';

/** The number of reads that are handled in one turn of the event loop. */
const readsPerTurn = 64;
/** Only after this many reads, the next turn is scheduled. To schedule each turn would cost a tenth of a login. */
const readsBeforeSchedule = 16;
/** The number of reads in a turn while connections come, because libuv accepts only one connection in each turn. */
const readsWhileAccepting = 8;

export type Turns = ReturnType<typeof createTurns>;

/**
 * Shares the turns of the event loop among the connections of a server. As long as a thousand connections are ready at
 * once, libuv reads them again and again before new connections, timers and immediates have their turn. So one client
 * with a thousand busy connections would shut out everybody else for seconds.
 *
 * Therefore, a turn handles a limited number of reads. The other connections are paused, and the next turns take one
 * connection of each client address after the other.
 */
export function createTurns() {
  let readsLeft = readsPerTurn;
  let isScheduled = false;
  let isAccepting = false;
  /** Paused connections with the cost of their next read, by their client addresses. */
  const waiting = new Map<string, Map<Socket, number>>();

  /** Begins a turn: one waiting connection of each client address after the other continues. */
  function startTurn(): void {
    isScheduled = false;
    const reads = isAccepting ? readsWhileAccepting : readsPerTurn;
    // Expensive reads of this turn leave fewer reads for the next turns.
    readsLeft = Math.min(reads, readsLeft + reads);
    isAccepting = false;
    for (let left = readsLeft; left > 0; ) {
      const next = takeWaiting();
      if (next === undefined) return;
      left -= next.cost;
      // The connection is read before any new data.
      next.socket.resume();
    }
    if (waiting.size > 0) scheduleTurn();
  }

  /** Takes a waiting connection of the first client, and moves this client to the end. */
  function takeWaiting(): { readonly socket: Socket; readonly cost: number } | undefined {
    for (const [client, sockets] of waiting) {
      waiting.delete(client);
      const [first] = sockets;
      if (first === undefined) continue;
      const [socket, cost] = first;
      sockets.delete(socket);
      if (sockets.size > 0) waiting.set(client, sockets);
      return { socket, cost };
    }
    return undefined;
  }

  /** Lets the next turn begin after new connections, timers and immediates of this one. */
  function scheduleTurn(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(startTurn);
  }

  return {
    /** Notes that a connection was accepted. */
    onAccepted(): void {
      isAccepting = true;
      scheduleTurn();
    },
    /**
     * Returns whether a read of a connection may be handled now. Otherwise, it pauses the connection until its turn.
     *
     * @param cost the number of ordinary reads that take as long
     */
    admitOrPause(socket: Socket, cost = 1): boolean {
      if (readsLeft - cost < readsPerTurn - readsBeforeSchedule) scheduleTurn();
      if (readsLeft > 0) {
        readsLeft -= cost;
        return true;
      }
      const client = clientOf(socket);
      const sockets = waiting.get(client) ?? new Map<Socket, number>();
      waiting.set(client, sockets.set(socket, cost));
      socket.pause();
      return false;
    },
  };
}

/** The network of a client, or an empty text after a reset or behind a Unix socket. */
const clientOf = ({ remoteAddress }: Socket) => (remoteAddress === undefined ? '' : toNetwork(remoteAddress));
