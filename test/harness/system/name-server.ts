import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** Answers every name with 127.0.0.1, refuses, or does not answer. */
type Mood = 'answers' | 'fails' | 'is silent';

/** A name server on an address of this machine, port 53. */
export interface NameServer {
  mood: Mood;
  /** Queries so far. */
  readonly asked: number;
  close(): void;
}

const serverFailure = 2;

export async function startNameServer(address: string): Promise<NameServer> {
  const socket = createSocket('udp4');
  let asked = 0;
  const server = {
    mood: 'answers' as Mood,
    get asked() {
      return asked;
    },
    close: () => socket.close(),
  };
  socket.on('message', (query, { port, address: from }) => {
    asked += 1;
    if (server.mood !== 'is silent') socket.send(answer(query, server.mood), port, from);
  });
  socket.bind(53, address);
  await once(socket, 'listening');
  return server;
}

/** @see RFC 1035 §4.1 */
function answer(query: Buffer, mood: Mood): Buffer {
  const questionEnd = query.indexOf(0, 12) + 5;
  const isIPv4 = query.readUInt16BE(questionEnd - 4) === 1;
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | (mood === 'fails' ? serverFailure : 0), 2);
  head.writeUInt16BE(1, 4);
  const question = query.subarray(12, questionEnd);
  if (mood === 'fails' || !isIPv4) return Buffer.concat([head, question]);
  head.writeUInt16BE(1, 6);
  // A pointer to the question's name, type A, class IN, 0 s to live, four bytes.
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
  return Buffer.concat([head, question, record]);
}
