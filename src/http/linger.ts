import type { Socket } from 'node:net';
import { limits } from '../limits.ts';

/**
 * Closes a connection whose client may still be sending. The client gets the FIN at once, and time to
 * read the response before the reset. @see RFC 9112 §9.6
 */
export function closeLingering(socket: Socket): void {
  socket.end();
  socket.pause();
  setTimeout(() => socket.destroy(), limits.lingerTime).unref();
}
