import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { limits } from '../../src/limits.ts';
import { type ListeningServer, listen } from '../../src/server/server.ts';

/** Reads that one turn of the event loop may handle. */
const most = 64;
const ofGreedy = 200;

describe('many connections of one client that ask at once', () => {
  let server: ListeningServer;
  /** The paths in the order of the requests. */
  const asked: string[] = [];
  /** Requests of each turn of the event loop. */
  const turns: number[] = [];
  let isCounting = false;
  const sockets: Socket[] = [];

  const answer: RequestListener = ({ url = '' }, response) => {
    if (!isCounting) {
      isCounting = true;
      turns.push(0);
      setImmediate(() => {
        isCounting = false;
      });
    }
    turns.push((turns.pop() ?? 0) + 1);
    asked.push(url);
    response.end('a');
  };

  async function open(localAddress: string): Promise<Socket> {
    const { port } = new URL(server.address);
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress });
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  }

  const ask = (socket: Socket, path: string) => {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    return once(socket, 'data');
  };

  beforeEach(async () => {
    asked.length = 0;
    turns.length = 0;
    const within = { ...limits, connections: 2 * ofGreedy, stopTime: 1 };
    const observer = { unreadableRequest() {}, limitHit() {} };
    server = await listen(answer, { host: '127.0.0.1', port: 0 }, within, observer);
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await server.close();
  });

  /** Opens connections, and waits until the server has accepted them, one in each turn. */
  async function openGreedy(): Promise<readonly Socket[]> {
    const greedy = await Promise.all(Array.from({ length: ofGreedy }, () => open('127.0.0.1')));
    await Promise.all(greedy.map((socket) => ask(socket, '/before')));
    return greedy;
  }

  it('are answered in several turns, in between of which others have theirs', async () => {
    const greedy = await openGreedy();
    turns.length = 0;
    await Promise.all(greedy.map((socket) => ask(socket, '/greedy')));
    expect(turns.reduce((sum, one) => sum + one, 0)).to.equal(ofGreedy);
    // As many again come from the connections that waited.
    expect(Math.max(...turns)).to.be.at.most(2 * most);
  });

  it('do not keep another client waiting until they are answered', async function () {
    // Elsewhere, this machine has only one address of its own.
    if (process.platform !== 'linux') this.skip();
    const greedy = await openGreedy();
    const other = await open('127.0.0.2');
    await ask(other, '/before');
    asked.length = 0;
    await Promise.all([...greedy.map((socket) => ask(socket, '/greedy')), ask(other, '/other')]);
    expect(asked).to.have.lengthOf(ofGreedy + 1);
    expect(asked.indexOf('/other')).to.be.at.most(2 * most + 1);
  });
});
