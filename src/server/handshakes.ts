import type { Server, Socket } from 'node:net';
import type { Turns } from './fair-turns.ts';

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
      incomplete = Buffer.alloc(0);
      if (!hasFirstRecord(bytes)) {
        incomplete = bytes;
        return;
      }
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

const handshakeRecord = 22;
const recordHeaderLength = 5;
/** TLS refuses a longer record. @see RFC 8446 §5.1 */
const longestRecord = 2 ** 14;

/**
 * Whether the first record of a client has come, which contains its hello. If a part were enough, a client could get
 * many turns by a byte each, and then send the rest of all hellos at once.
 *
 * @see RFC 8446 §5.1
 */
function hasFirstRecord(bytes: Buffer): boolean {
  if (bytes[0] !== handshakeRecord) return true;
  if (bytes.length < recordHeaderLength) return false;
  const length = bytes.readUInt16BE(recordHeaderLength - 2);
  return length > longestRecord || bytes.length >= recordHeaderLength + length;
}
