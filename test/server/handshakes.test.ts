import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { type CountedLimit, limits } from '../../src/limits.ts';
import { Secret } from '../../src/sealing/secret.ts';
import { type ListeningServer, listen } from '../../src/server/server.ts';
import { serveTcp } from '../harness/provider/serve.ts';
import { selfSignedCertificate } from '../harness/system/certificate.ts';

/**
 * Handshakes that may come before the handshake of another client: the handshakes of two turns, and of the turn that
 * has begun.
 */
const mostBefore = 20;
const ofGreedy = 200;

/** The first bytes of a client that speaks TLS. */
async function recordHello(): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const server = await serveTcp((socket) => socket.once('data', resolve));
  connectTls({ port: server.port, host: '127.0.0.1' }).on('error', () => {});
  const hello = await promise;
  await server.close();
  return hello;
}

/** Splits the only record of a hello in two, because a hello may have several. @see RFC 8446 §5.1 */
function splitRecord(hello: Buffer, length: number): [Buffer, Buffer] {
  const content = hello.subarray(5);
  const recordOf = (part: Buffer) => {
    const header = Buffer.from(hello.subarray(0, 5));
    header.writeUInt16BE(part.length, 3);
    return Buffer.concat([header, part]);
  };
  return [recordOf(content.subarray(0, length)), recordOf(content.subarray(length))];
}

describe('TLS handshakes', () => {
  let hello: Buffer;
  let server: ListeningServer;
  let hit: CountedLimit[];
  const sockets: Socket[] = [];

  before('record a hello', async () => {
    hello = await recordHello();
  });
  beforeEach(() => {
    hit = [];
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await server.close();
  });

  async function start(handshakeTime: number): Promise<void> {
    const pem = await selfSignedCertificate('localhost');
    server = await listen(
      (_, response) => void response.end('a'),
      { host: '127.0.0.1', port: 0 },
      { ...limits, connections: 2 * ofGreedy, stopTime: 1, handshakeTime },
      { unreadableRequest() {}, limitHit: (limit) => void hit.push(limit) },
      { chain: pem, key: new Secret(pem), files: [] },
    );
  }

  async function open(localAddress = '127.0.0.1'): Promise<Socket> {
    const { port } = new URL(server.address);
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress });
    sockets.push(socket.on('error', () => {}));
    await once(socket, 'connect');
    return socket;
  }

  const waysToSend: readonly (readonly [string, () => readonly [Buffer, Buffer]])[] = [
    ['', () => [hello.subarray(0, 0), hello]],
    [', which sends the end of each hello alone', () => [hello.subarray(0, -1), hello.subarray(-1)]],
    [', which sends the first byte of each hello as a record of its own', () => splitRecord(hello, 1)],
    [', which sends the last byte of each hello as a record of its own', () => splitRecord(hello, hello.length - 6)],
  ];
  for (const [how, split] of waysToSend) {
    it(`of another client begin before the handshakes of a client with hundreds${how}`, async function () {
      // Elsewhere, this machine has only one address of its own.
      if (process.platform !== 'linux') this.skip();
      await start(limits.handshakeTime);
      const [first, rest] = split();
      const greedy = await Promise.all(Array.from({ length: ofGreedy }, () => open()));
      const other = await open('127.0.0.2');
      for (const socket of greedy) socket.write(first);
      // The server accepts one in each turn.
      for (let turn = 0; turn < 2 * ofGreedy; turn += 1) await setImmediate();
      const answered: Socket[] = [];
      const all = [...greedy, other].map(async (socket) => {
        socket.write(socket === other ? hello : rest);
        await once(socket, 'data');
        answered.push(socket);
      });
      await Promise.all(all);
      expect(answered.indexOf(other)).to.be.at.most(mostBefore);
    });
  }

  it('begin if the hello comes byte by byte, in several records', async () => {
    await start(limits.handshakeTime);
    const client = await open();
    client.setNoDelay();
    const [first, rest] = splitRecord(hello, 3);
    for (const byte of Buffer.concat([first, rest])) {
      client.write(Buffer.of(byte));
      await setImmediate();
    }
    const [answer] = await once(client, 'data');
    expect(answer[0]).to.equal(hello[0]);
  });

  it('never begin if the hello is too long, and its connection closes at once', async () => {
    await start(limits.handshakeTime);
    const client = await open();
    const [first] = splitRecord(hello, 1);
    const endless = Buffer.concat(Array.from({ length: 3_000 }, () => Buffer.of(22, 3, 1, 0, 1, 255)));
    client.write(Buffer.concat([first, endless]));
    await once(client, 'close');
    expect(hit).to.deep.equal([]);
  });

  it('have a time to begin, and a time to end', async () => {
    await start(100);
    const silent = await open();
    const halting = await open();
    halting.write(hello.subarray(0, 10));
    await Promise.all([once(silent, 'close'), once(halting, 'close')]);
    expect(hit).to.deep.equal(['handshake_time', 'handshake_time']);
  });

  it('are dropped if their client disconnects before they begin', async () => {
    await start(limits.handshakeTime);
    const ended = await open();
    ended.end();
    await once(ended, 'close');
    const reset = await open();
    reset.resetAndDestroy();
    const socket = connectTls({ port: Number(new URL(server.address).port), rejectUnauthorized: false });
    sockets.push(socket);
    await once(socket, 'secureConnect');
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await once(socket, 'data');
    expect(hit).to.deep.equal([]);
  });
});
