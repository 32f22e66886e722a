import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../limits.ts';
import type { Turns } from './turns.ts';

/** Why no more of a connection is parsed, as the code of its failure. */
export type Excess = 'pipelined_too_many' | 'chunks_too_small';

// The smallest chunk that is handed on without copying.
const handedOnAlone = 1024;

/**
 * A request whose body costs no more than its bytes: many small chunks reach the reader in as many parts as were read
 * from the connection.
 */
export class Request extends IncomingMessage {
  readonly #held: Buffer[] = [];
  #small = 0;

  /** Whether more small chunks came than a useful body has. */
  get isCrumbled(): boolean {
    return this.#small > limits.smallChunks;
  }

  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    if (Buffer.isBuffer(chunk) && chunk.length < handedOnAlone) {
      this.#held.push(chunk);
      return true;
    }
    this.release();
    return super.push(chunk, encoding);
  }

  /** Hands on the small chunks. @returns false if the reader should get no more for now */
  release(): boolean {
    const held = this.#held.splice(0);
    if (held.length === 0) return true;
    // A single chunk costs no more than the read that it came with.
    if (held.length > 1) this.#small += held.filter(({ length }) => length < limits.smallChunkSize).length;
    return super.push(held.length > 1 ? Buffer.concat(held) : held[0]);
  }
}

// Enough for a few requests of a browser. Each further piece of a read is twice as long, unless the last piece was
// expensive.
const firstPiece = 1024;

/**
 * Parses the bytes of a connection in pieces. Node.js would parse a whole read, up to 64 KiB, before any other client's
 * turn: a thousand pipelined requests, or ten thousand chunks.
 *
 * @param latest the request that was parsed last
 * @param excessOf asked after each piece whether and why no more may be parsed
 * @param stop called once, with that answer
 * @param turns says whether what has come may be parsed now
 */
export function parseInPieces(
  socket: Socket,
  latest: () => Request | undefined,
  excessOf: () => Excess | undefined,
  stop: (excess: Excess) => void,
  turns: Turns,
): void {
  // The HTTP server of Node.js also accepts sockets that are not its own. Then it listens for data. Otherwise, it reads
  // directly from the system unless somebody else listens, as this function does.
  const [parse] = socket.listeners('data');
  if (parse === undefined) return;
  socket.removeAllListeners('data');
  let isStopped = false;

  /** @returns false if the rest has to wait, or is not for the parser */
  function goesOn(): boolean {
    const excess = excessOf();
    if (excess !== undefined) {
      isStopped = true;
      stop(excess);
    }
    const isParsed = !isStopped && !socket.destroyed && socket.listenerCount('data', parse) > 0;
    return isParsed && !socket.isPaused();
  }

  function onData(bytes: NonSharedBuffer): void {
    if (isStopped) return;
    if (!turns.takes(socket)) {
      socket.unshift(bytes);
      return;
    }
    let size = firstPiece;
    let end = 0;
    let before = latest();
    do {
      parse?.call(socket, bytes.subarray(end, end + size));
      end += size;
      const current = latest();
      if (current?.release() === false) socket.pause();
      // The piece was part of one body.
      if (current === before) size *= 2;
      before = current;
    } while (goesOn() && end < bytes.length);
    // The rest comes again after a pause, or goes to what replaced the parser after a CONNECT request.
    if (end < bytes.length && !isStopped && !socket.destroyed) socket.unshift(bytes.subarray(end));
  }

  // Node.js removes its own listener when it hands the connection over. With this mark, it removes this one.
  socket.on('data', Object.assign(onData, { listener: parse }));
}
