import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { type CountedLimit, limits } from '../../src/limits.ts';
import { Secret } from '../../src/sealing/secret.ts';
import { mayNeedSecondHello } from '../../src/server/client-hello.ts';
import { type ListeningServer, listen } from '../../src/server/server.ts';
import { serveTcp } from '../harness/provider/serve.ts';
import { selfSignedCertificate } from '../harness/system/certificate.ts';
import { eventually } from '../harness/system/eventually.ts';
import { helloWith, randomOfRetry } from './support/hello.ts';

/**
 * Handshakes that may come before the handshake of another client: the handshakes of two turns, and of the turn that
 * has begun.
 */
const mostBefore = 20;
const ofGreedy = 200;

/** The first bytes of a client that speaks TLS. */
async function recordHello(options: ConnectionOptions = {}): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const server = await serveTcp((socket) => socket.once('data', resolve));
  connectTls({ ...options, port: server.port, host: '127.0.0.1' }).on('error', () => {});
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

  const x25519 = 0x1d;
  const x448 = 0x1e;
  for (const [what, given, needsSecond] of [
    ['no key share', helloWith([x25519], []), true],
    ['a key share of a group that the relay does not know', helloWith([0xaaaa, x25519], [0xaaaa]), true],
    ['a key share only of a group that the relay likes less', helloWith([x25519, x448], [x448]), true],
    ['a key share of its group', helloWith([x25519], [x25519]), false],
  ] as const) {
    it(`${needsSecond ? 'may need a' : 'need no'} second hello if the hello has ${what}`, async () => {
      await start(limits.handshakeTime);
      expect(mayNeedSecondHello(given)).to.equal(needsSecond);
      const client = await open();
      client.write(given);
      const [answer] = await once(client, 'data');
      // The relay must not ask for a second hello without expecting it. Releases of OpenSSL differ in when they ask.
      if (!needsSecond) expect(answer.toString('hex')).not.to.contain(randomOfRetry);
      if (what === 'no key share') expect(answer.toString('hex')).to.contain(randomOfRetry);
    });
  }

  it('need no second hello if the hello is that of Node.js, with TLS 1.3 or only with TLS 1.2', async () => {
    await start(limits.handshakeTime);
    expect(mayNeedSecondHello(hello)).to.equal(false);
    expect(mayNeedSecondHello(await recordHello({ maxVersion: 'TLSv1.2' }))).to.equal(false);
    // What is not understood may need anything.
    expect(mayNeedSecondHello(hello.subarray(0, -1))).to.equal(true);
  });

  it('that wait for a second hello are eight of a client, and hold up no other handshake', async function () {
    if (process.platform !== 'linux') this.skip();
    await start(limits.handshakeTime);
    const answered = new Set<Socket>();
    const ask = async (address?: string) => {
      const socket = await open(address);
      socket.once('data', () => answered.add(socket)).write(helloWith([x25519], []));
      return socket;
    };
    const greedy: Socket[] = [];
    for (let count = 0; count < 12; count += 1) greedy.push(await ask());
    const countIs = async (count: number) => eventually(async () => expect(answered.size).to.equal(count));
    await countIs(8);
    await ask('127.0.0.2');
    await countIs(9);
    const ordinary = await open();
    ordinary.write(hello);
    await once(ordinary, 'data');
    expect(answered.size).to.equal(9);
    // An end makes room for the next of this client.
    const [first] = greedy.filter((socket) => answered.has(socket));
    first?.destroy();
    await countIs(10);
    for (const socket of greedy) socket.destroy();
    await once(await ask(), 'data');
  });

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
