import type { Server, Socket } from 'node:net';
import type { Turns } from './fair-turns.ts';

/** A handshake costs about as much as so many small requests: the server signs, and derives the keys. */
const readsOfHandshake = 32;

/**
 * Begins the TLS handshakes of a server in turns. Node.js would begin each as soon as its first bytes have come, so
 * that one client that sends a thousand a second would keep everybody else waiting for seconds.
 *
 * @param handshakeTime milliseconds for the first bytes, and again for the rest of the handshake
 * @param onTooLate called when a connection was closed because nothing came in time
 */
export function takeTurnsForHandshakes(
  server: Server,
  turns: Turns,
  handshakeTime: number,
  onTooLate: () => void,
): void {
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const close = () => socket.destroy();
    const timer = setTimeout(() => {
      onTooLate();
      close();
    }, handshakeTime);
    const begin = (bytes: Buffer) => {
      if (!turns.admitRead(socket, readsOfHandshake)) {
        socket.unshift(bytes);
        return;
      }
      clearTimeout(timer);
      socket.off('data', begin).off('end', close).off('error', close).pause();
      socket.unshift(bytes);
      // TLS reads what has come, and takes the connection over.
      for (const listener of listeners) listener.call(server, socket);
    };
    socket.on('data', begin).once('end', close).once('error', close);
    socket.once('close', () => clearTimeout(timer));
  });
}
