const handshakeRecord = 22;
const clientHello = 1;
const recordHeaderLength = 5;
const messageHeaderLength = 4;
/** TLS refuses a longer record. @see RFC 8446 §5.1 */
const longestRecord = 2 ** 14;

const extensions = { groups: 10, versions: 43, shares: 51 } as const;
const tls13 = 0x0304;

/**
 * The groups of OpenSSL, the preferred ones first. In the first line of which a client supports a group, OpenSSL looks
 * for a key share of the client. If there is none, it asks for a second hello. The first line is not in each release.
 */
const preferredGroups: readonly (readonly number[])[] = [
  [0x11ec], // X25519MLKEM768
  [0x001d, 0x0017], // X25519, P-256
  [0x001e, 0x0018, 0x0019], // X448, P-384, P-521
  [0x0100, 0x0101], // ffdhe2048, ffdhe3072
];

/**
 * Whether the whole hello of a client has come, which may take several records, or something that TLS refuses. If a
 * part were enough, a client could get many turns by a byte each, and then send the rest of all hellos at once.
 *
 * @see RFC 8446 §4 and §5.1
 */
export function hasWholeHello(bytes: Buffer): boolean {
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

/**
 * Whether TLS may answer a hello with a request for a second one (HelloRetryRequest). Nearly no client needs that. The
 * answer is also true for a hello that is not understood.
 *
 * @param records the whole hello of a client, in its records
 * @see RFC 8446 §4.1.4 and §4.2.8
 */
export function mayNeedSecondHello(records: Buffer): boolean {
  try {
    const found = readExtensions(joinRecords(records).skip(messageHeaderLength));
    const versions = found.get(extensions.versions)?.vector(1).numbers();
    if (versions?.includes(tls13) !== true) return false;
    const groups = found.get(extensions.groups)?.vector(2).numbers() ?? [];
    const shares = found.get(extensions.shares)?.vector(2).entries() ?? new Map();
    const hasShareFor = (lines: typeof preferredGroups) =>
      lines.find((line) => line.some((group) => groups.includes(group)))?.some((group) => shares.has(group)) === true;
    return !hasShareFor(preferredGroups) || !hasShareFor(preferredGroups.slice(1));
  } catch (error) {
    if (error instanceof RangeError) return true;
    throw error;
  }
}

/** Joins the contents of records. */
function joinRecords(records: Buffer): Bytes {
  const contents: Buffer[] = [];
  for (let start = 0; start < records.length; ) {
    const content = start + recordHeaderLength;
    const end = content + records.readUInt16BE(content - 2);
    contents.push(records.subarray(content, end));
    start = end;
  }
  return new Bytes(Buffer.concat(contents));
}

/** Reads the extensions of a hello. @see RFC 8446 §4.1.2 */
function readExtensions(hello: Bytes): ReadonlyMap<number, Bytes> {
  const versionAndRandom = 34;
  hello.skip(versionAndRandom);
  // The session id, the cipher suites and the compression methods come before.
  for (const lengthSize of [1, 2, 1]) hello.vector(lengthSize);
  return hello.vector(2).entries();
}

/** Bytes that are read one part after the other. @throws {RangeError} if there are too few */
class Bytes {
  #rest: Buffer;

  constructor(bytes: Buffer) {
    this.#rest = bytes;
  }

  skip(length: number): this {
    this.#take(length);
    return this;
  }

  /** Reads a length of so many bytes, and a part of this length. */
  vector(lengthSize: number): Bytes {
    return new Bytes(this.#take(this.#take(lengthSize).readUIntBE(0, lengthSize)));
  }

  /** Reads all that is left as numbers of two bytes. */
  numbers(): readonly number[] {
    const numbers: number[] = [];
    while (this.#rest.length > 0) numbers.push(this.#take(2).readUInt16BE());
    return numbers;
  }

  /** Reads all that is left as parts with a number of two bytes each. */
  entries(): ReadonlyMap<number, Bytes> {
    const entries = new Map<number, Bytes>();
    while (this.#rest.length > 0) entries.set(this.#take(2).readUInt16BE(), this.vector(2));
    return entries;
  }

  #take(length: number): Buffer {
    if (length > this.#rest.length) throw new RangeError('too few bytes');
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }
}
