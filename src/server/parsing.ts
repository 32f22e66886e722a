import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../limits.ts';
import type { Turns } from './fair-turns.ts';

/** Why no more of a connection is parsed, as the code of its failure. */
export type Excess = 'pipelined_too_many' | 'chunks_too_small';

// Bytes. Smaller chunks are collected, and copied into one.
const smallestUncopied = 1024;

/**
 * A request whose body does not cost more CPU time if it comes in many small chunks. All small chunks of a piece reach
 * the reader as one.
 */
export class Request extends IncomingMessage {
  readonly #smallChunks: Buffer[] = [];
  #smallChunkCount = 0;

  /** Whether the body has more small chunks than any useful one. */
  get hasTooManySmallChunks(): boolean {
    return this.#smallChunkCount > limits.smallChunks;
  }

  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    if (Buffer.isBuffer(chunk) && chunk.length < smallestUncopied) {
      this.#smallChunks.push(chunk);
      return true;
    }
    this.deliverSmallChunks();
    return super.push(chunk, encoding);
  }

  /** Gives the reader the collected small chunks. @returns false if the reader should get no more for now */
  deliverSmallChunks(): boolean {
    const chunks = this.#smallChunks.splice(0);
    const [first, second] = chunks;
    if (first === undefined) return true;
    // A single chunk costs no more than the read that it came with.
    if (second === undefined) return super.push(first);
    this.#smallChunkCount += chunks.filter(({ length }) => length < limits.smallChunkSize).length;
    return super.push(Buffer.concat(chunks));
  }
}

// Bytes, enough for a few requests of a browser. Each further piece of a read is twice as long, unless a new request
// began in the last piece.
const firstPiece = 1024;

/**
 * Parses the bytes of a connection in pieces. Otherwise, Node.js would parse a whole read of up to 64 KiB before other
 * clients have their turn: a thousand pipelined requests, or ten thousand chunks.
 *
 * @param latest the request that was parsed last
 * @param findExcess called after each piece. Returns why no more may be parsed, or undefined
 * @param onExcess called once, when no more is parsed
 * @param turns decides whether a read may be parsed now
 */
export function parseInPieces(
  socket: Socket,
  latest: () => Request | undefined,
  findExcess: () => Excess | undefined,
  onExcess: (excess: Excess) => void,
  turns: Turns,
): void {
  // Node.js has a listener for data, which it bypasses until somebody else listens, as this function does.
  const [parse] = socket.listeners('data');
  if (parse === undefined) return;
  socket.removeAllListeners('data');
  let isStopped = false;

  /** Whether the next piece of a read may be parsed. If not, it has to wait, or is not for the parser. */
  function canContinue(): boolean {
    const excess = findExcess();
    if (excess !== undefined) {
      isStopped = true;
      onExcess(excess);
    }
    const isForParser = !isStopped && !socket.destroyed && socket.listenerCount('data', parse) > 0;
    return isForParser && !socket.isPaused();
  }

  /** Parses a read, or puts it back if the connection has to wait for its turn. */
  function onData(bytes: NonSharedBuffer): void {
    if (isStopped) return;
    if (!turns.admitOrPause(socket)) {
      socket.unshift(bytes);
      return;
    }
    let size = firstPiece;
    let end = 0;
    let previous = latest();
    do {
      parse?.call(socket, bytes.subarray(end, end + size));
      end += size;
      const current = latest();
      // As Node.js does if the reader of a body is full.
      if (current?.deliverSmallChunks() === false) socket.pause();
      // No new request has begun, so the piece was part of one body.
      if (current === previous) size *= 2;
      previous = current;
    } while (canContinue() && end < bytes.length);
    // The rest comes again after a pause. After a CONNECT request, it comes to whatever has replaced the parser.
    if (end < bytes.length && !isStopped && !socket.destroyed) socket.unshift(bytes.subarray(end));
  }

  // When Node.js hands the connection over, it removes its own listener. `listener` makes it remove this function, as
  // if `once` had wrapped the listener.
  socket.on('data', Object.assign(onData, { listener: parse }));
}
