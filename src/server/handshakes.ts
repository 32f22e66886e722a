import type { Server, Socket } from 'node:net';
import { limits } from '../limits.ts';
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
const clientHello = 1;
const recordHeaderLength = 5;
const messageHeaderLength = 4;
/** TLS refuses a longer record. @see RFC 8446 §5.1 */
const longestRecord = 2 ** 14;

/**
 * Whether the whole hello of a client has come, which may take several records, or something that TLS refuses. If a
 * part were enough, a client could get many turns by a byte each, and then send the rest of all hellos at once.
 *
 * @see RFC 8446 §4 and §5.1
 */
function hasWholeHello(bytes: Buffer): boolean {
  const message = Buffer.alloc(messageHeaderLength);
  /** Bytes of the message that have come in complete records. */
  let received = 0;
  for (let start = 0; start < bytes.length; ) {
    if (bytes[start] !== handshakeRecord) return true;
    const content = start + recordHeaderLength;
    if (content > bytes.length) return false;
    const length = bytes.readUInt16BE(content - 2);
    if (length > longestRecord) return true;
    const end = content + length;
    if (end > bytes.length) return false;
    if (received < messageHeaderLength) bytes.copy(message, received, content, end);
    received += length;
    if (received > 0 && message[0] !== clientHello) return true;
    if (received >= messageHeaderLength && received - messageHeaderLength >= message.readUIntBE(1, 3)) return true;
    start = end;
  }
  return false;
}
