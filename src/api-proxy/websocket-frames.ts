/** The code and reason that the client of a WebSocket reads at its end. @see RFC 6455 §7.4.1 */
export interface Closing {
  /** 1001: the server goes away; 1008: the client may not go on. */
  readonly code: 1001 | 1008;
  /** At most 123 bytes. */
  readonly reason: string;
}

/** The first byte of a close frame: the bit of a last fragment, and the opcode 8. @see RFC 6455 §5.2 */
const finalCloseFrame = 0x88;

/** Builds the close frame of a server. @see RFC 6455 §5.5.1 */
export function buildCloseFrame({ code, reason }: Closing): Buffer {
  const text = Buffer.from(reason);
  const head = Buffer.alloc(4);
  head.writeUInt8(finalCloseFrame, 0);
  head.writeUInt8(2 + text.length, 1);
  head.writeUInt16BE(code, 2);
  return Buffer.concat([head, text]);
}

/** Two bytes, eight of a length, and four of a mask. */
const longestHeader = 14;

/**
 * Finds out where the frames of one side end. A frame of the relay must begin there, because within another frame, the
 * client would take it for a part of a message.
 *
 * @see RFC 6455 §5.2
 */
export class FrameBoundaries {
  readonly #header = Buffer.alloc(longestHeader);
  #headerBytes = 0;
  /** Bytes of the payload that are still to come. */
  #payloadLeft = 0;

  /** Whether all frames that have begun are complete. */
  get isAtBoundary(): boolean {
    return this.#headerBytes === 0 && this.#payloadLeft === 0;
  }

  /**
   * Follows the next bytes.
   *
   * @param untilBoundary whether to stop at the first end of a frame
   * @returns the number of bytes that were taken
   */
  follow(bytes: Uint8Array, untilBoundary = false): number {
    let at = 0;
    while (at < bytes.length && !(untilBoundary && this.isAtBoundary)) {
      if (this.#payloadLeft > 0) {
        const taken = Math.min(this.#payloadLeft, bytes.length - at);
        this.#payloadLeft -= taken;
        at += taken;
      } else {
        this.#takeHeaderByte(bytes[at] ?? 0);
        at += 1;
      }
    }
    return at;
  }

  /** Takes a byte of a header. After the last one, the length of the payload is known. */
  #takeHeaderByte(byte: number): void {
    this.#headerBytes = this.#header.writeUInt8(byte, this.#headerBytes);
    if (this.#headerBytes < 2) return;
    const second = this.#header.readUInt8(1);
    const shortLength = second & 0x7f;
    const extendedLengthBytes = extendedLengthSizes.get(shortLength) ?? 0;
    const maskBytes = second & 0x80 ? 4 : 0;
    if (this.#headerBytes < 2 + extendedLengthBytes + maskBytes) return;
    this.#headerBytes = 0;
    if (extendedLengthBytes === 0) this.#payloadLeft = shortLength;
    else if (extendedLengthBytes === 2) this.#payloadLeft = this.#header.readUInt16BE(2);
    // Beyond 2^53, the last digits are lost, but nobody sends so much.
    else this.#payloadLeft = Number(this.#header.readBigUInt64BE(2));
  }
}

/** The lengths that stand for a longer length after them, and the bytes of that length. */
const extendedLengthSizes: ReadonlyMap<number, 2 | 8> = new Map([
  [126, 2],
  [127, 8],
]);
