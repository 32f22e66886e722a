import type { Socket } from 'node:net';
import { limits } from '../limits.ts';

/**
 * Closes a connection whose client may still be sending: it hears at once that nothing follows, but is
 * not cut off before it could read what it was told. @see RFC 9112 §9.6
 */
export function closeLingering(socket: Socket): void {
  socket.end();
  socket.pause();
  setTimeout(() => socket.destroy(), limits.lingerTime).unref();
}
