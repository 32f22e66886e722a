import type { Server, Socket } from 'node:net';
import { limits } from '../limits.ts';
import { hasWholeHello, mayNeedSecondHello } from './client-hello.ts';
import type { Turns } from './fair-turns.ts';
import { limitSecondHellos } from './second-hello.ts';

/** A handshake costs about as much as so many small requests: the server signs, and derives the keys. */
const readsOfHandshake = 32;

/**
 * Begins the TLS handshakes of a server in turns. Node.js would begin each as soon as its first bytes have come, so
 * that one client that sends a thousand a second would keep everybody else waiting for seconds.
 *
 * @param handshakeTime milliseconds for the hello of the client, and again for the rest of the handshake
 * @param onTooLate called when a connection was closed because no hello came in time
 */
export function takeTurnsForHandshakes(
  server: Server,
  turns: Turns,
  handshakeTime: number,
  onTooLate: () => void,
): void {
  const secondHellos = limitSecondHellos(server);
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const close = () => socket.destroy();
    const timer = setTimeout(() => {
      onTooLate();
      close();
    }, handshakeTime);
    let incomplete: Buffer = Buffer.alloc(0);
    const begin = (received: Buffer) => {
      const bytes = Buffer.concat([incomplete, received]);
      if (!hasWholeHello(bytes)) {
        incomplete = bytes;
        if (bytes.length >= limits.helloSize) close();
        // Many small reads must wait for their turns as well.
        else turns.admitOrPause(socket);
        return;
      }
      if (!turns.admitOrPause(socket, readsOfHandshake)) {
        // The socket is paused until its turn, and then emits these bytes again.
        incomplete = Buffer.alloc(0);
        socket.unshift(bytes);
        return;
      }
      socket.off('data', begin).pause();
      if (mayNeedSecondHello(bytes)) secondHellos.whenPlaceIsFree(socket, () => handOver(bytes));
      else handOver(bytes);
    };
    const handOver = (hello: Buffer) => {
      if (socket.destroyed) return;
      clearTimeout(timer);
      socket.off('end', close).off('error', close);
      socket.unshift(hello);
      // TLS reads what has come, and takes the connection over.
      for (const listener of listeners) listener.call(server, socket);
    };
    socket.on('data', begin).once('end', close).once('error', close);
    socket.once('close', () => clearTimeout(timer));
  });
}
