import type { Server, Socket } from 'node:net';
import { clientOf } from './fair-turns.ts';

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

/** The handshakes of one client address that wait for a second hello at the same time. */
const mostPerClient = 8;

const recordHeaderLength = 5;
const messageHeaderLength = 4;

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

/**
 * Limits the handshakes of each client that wait for a second hello. TLS reads a second hello itself, without a turn
 * (handshakes.ts), and it costs as much as a handshake. So a client could send three thousand first hellos in turns, and
 * then all second hellos at once, and would keep everybody else waiting for seconds.
 */
export function limitSecondHellos(server: Server) {
  const holders = new Map<string, Set<string>>();
  const waiting = new Map<string, Map<Socket, () => void>>();

  /** Begins a handshake. Its place is free again when it or its connection has ended. */
  function begin(socket: Socket, client: string, proceed: () => void): void {
    const peer = peerOf(socket);
    holders.set(client, (holders.get(client) ?? new Set()).add(peer));
    socket.once('close', () => leave(client, peer));
    proceed();
  }

  function leave(client: string, peer: string): void {
    const held = holders.get(client);
    if (held?.delete(peer) !== true) return;
    if (held.size === 0) holders.delete(client);
    const [next] = waiting.get(client) ?? [];
    if (next === undefined) return;
    const [socket, proceed] = next;
    stopWaiting(client, socket);
    begin(socket, client, proceed);
  }

  function stopWaiting(client: string, socket: Socket): void {
    const sockets = waiting.get(client);
    sockets?.delete(socket);
    if (sockets?.size === 0) waiting.delete(client);
  }

  server.on('secureConnection', (secured: Socket) => leave(clientOf(secured), peerOf(secured)));
  return {
    /** Calls `proceed` as soon as fewer handshakes of the client wait. The socket must be paused. */
    whenPlaceIsFree(socket: Socket, proceed: () => void): void {
      const client = clientOf(socket);
      if ((holders.get(client)?.size ?? 0) < mostPerClient) {
        begin(socket, client, proceed);
        return;
      }
      waiting.set(client, (waiting.get(client) ?? new Map()).set(socket, proceed));
      socket.once('close', () => stopWaiting(client, socket));
    },
  };
}

/** TLS wraps the socket in another one, which has the same peer. */
const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
