import type { RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import Koa from 'koa';
import { limits } from '../../src/limits.ts';
import { type ListeningServer, listen } from '../../src/server/server.ts';
import type { UnreadableRequest } from '../../src/server/unreadable-request.ts';
import { RawConnection } from '../harness/client/raw-connection.ts';

const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const answered = 'HTTP/1.1 200 OK\r\n';
const answer: RequestListener = (_request, response) => {
  response.end('answered');
};
const upload = (length: number) => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;
const unendingUpload = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n';
// Long enough for an active client, even if the machine pauses for a moment.
const short = 500;

describe('a server within limits', () => {
  const cleanUp: (() => unknown)[] = [];
  let unreadable: UnreadableRequest[] = [];
  let hits: string[] = [];
  afterEach(async () => {
    await Promise.all(cleanUp.splice(0).map((undo) => undo()));
    unreadable = [];
    hits = [];
    responses.length = 0;
    arrived = 0;
    received = 0;
  });

  let arrived = 0;
  let received = 0;
  const readBody: RequestListener = (incoming, response) => {
    arrived += 1;
    let length = 0;
    incoming.on('data', (chunk: Buffer) => {
      length += chunk.length;
      received += chunk.length;
    });
    incoming.on('end', () => response.end(`${length} bytes`));
  };
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise(setImmediate);
  };
  const responses: ServerResponse[] = [];
  /** Leaves all requests in flight. */
  const hold: RequestListener = (_request, response) => responses.push(response);

  async function start(
    listener: RequestListener,
    within: Partial<Record<keyof typeof limits | 'connections', number>> = {},
  ): Promise<{ server: ListeningServer; open(): Promise<RawConnection> }> {
    const most = { ...limits, connections: 100, ...within };
    const server = await listen(listener, { host: '127.0.0.1', port: 0 }, most, {
      unreadableRequest: (request) => unreadable.push(request),
      limitHit: (limit) => hits.push(limit),
    });
    cleanUp.push(server.close);
    const port = Number(new URL(server.address).port);
    const open = async () => {
      const connection = await RawConnection.open(port);
      cleanUp.unshift(() => connection.close());
      return connection;
    };
    return { server, open };
  }

  describe('of time', () => {
    it('answers 408 to headers that do not end, even if they arrive steadily', async () => {
      const { open } = await start(answer, { headersTime: short });
      const stalled = await open();
      const dripping = await open();
      stalled.say('GET / HTTP/1.1\r\nHost:');
      dripping.say('GET / HTTP/1.1\r\nX: ');
      const drip = setInterval(() => dripping.say('x'), 5);
      cleanUp.push(() => clearInterval(drip));
      await Promise.all([stalled.closed, dripping.closed]);
      for (const { heard } of [stalled, dripping]) {
        expect(heard).to.match(/^HTTP\/1\.1 408 .*\r\nConnection: close\r\n\r\n\{"detail":/s);
      }
      const outcomes = unreadable.map(({ outcome }) => outcome);
      expect(outcomes).to.deep.equal(['request_timeout', 'request_timeout']);
    });

    it('answers 408 to a body that does not end if the answer needs it', async () => {
      const { open } = await start((incoming) => incoming.resume(), {
        headersTime: short,
        requestTime: short,
      });
      const connection = await open();
      connection.say('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n1');
      await connection.closed;
      expect(connection.heard).to.match(/^HTTP\/1\.1 408 /);
    });

    it('closes a connection without any bytes, and sends no answer', async () => {
      const { open } = await start(answer, { headersTime: short });
      const connection = await open();
      await connection.closed;
      expect(connection.heard).to.equal('');
      expect(unreadable).to.deep.equal([]);
    });

    it('does not wait for the client to close the connection after a 408', async () => {
      const { open } = await start(answer);
      const connection = await open();
      connection.socket.allowHalfOpen = true;
      await connection.say('NONSENSE\r\n\r\n').hear('HTTP/1.1 400');
      const talk = setInterval(() => connection.say('more'), 5);
      cleanUp.push(() => clearInterval(talk));
      await connection.closed;
    });

    it('closes an idle keep-alive connection, and does not count that as a hit', async () => {
      const { open } = await start(answer, { keepAliveTime: short });
      const connection = (await open()).say(request);
      await connection.hear('answered');
      await connection.closed;
      expect(hits).to.deep.equal([]);
    });

    it('announces a keep-alive time that is longer than the keep-alive time of balancers', async () => {
      const { open } = await start(answer);
      const connection = (await open()).say(request);
      await connection.hear('Keep-Alive: timeout=125');
    });

    it('closes the connection of a client that does not read its response', async () => {
      const app = new Koa();
      app.use((ctx) => {
        ctx.body = Buffer.alloc(50_000_000);
      });
      const { open } = await start(app.callback(), { answerTime: short });
      const connection = await open();
      connection.socket.pause();
      connection.say(request);
      await until(() => hits.length > 0);
      connection.socket.resume();
      await connection.closed;
      expect(hits).to.deep.equal(['answer_time']);
      expect(connection.heard.length).to.be.lessThan(50_000_000);
    });
  });

  describe('of connections', () => {
    it('serves requests while many connections are idle', async () => {
      const { open } = await start(answer, { connections: 10 });
      const silent = await Promise.all(Array.from({ length: 50 }, open));
      const honest = (await open()).say(request);
      await honest.hear(answered);
      const closed = silent.slice(0, 41).map((connection) => connection.closed);
      await Promise.all(closed);
      expect(hits).to.have.lengthOf(41);
      expect(new Set(hits)).to.deep.equal(new Set(['connections']));
      expect(silent.slice(41).some(({ socket }) => socket.destroyed)).to.equal(false);
    });

    it('closes the connection that has been idle for longest, whether new or keep-alive', async () => {
      const { open } = await start(answer, { connections: 3 });
      const kept = await open();
      const silent = await open();
      const half = (await open()).say('GET / HTTP/1.1\r\n');
      await kept.say(request).hear(answered);
      await (await open()).say(request).hear(answered);
      await silent.closed;
      await (await open()).say(request).hear(answered);
      await half.closed;
      await kept.say(request).hear(answered, 2);
    });

    it('closes the new connection if a request is in flight on every other connection', async () => {
      const { server, open } = await start(hold, { connections: 2 });
      const busy = [(await open()).say(request), (await open()).say(`${request}${request}`)];
      await until(() => responses.length === 2);
      const refused = await open();
      await refused.closed;
      expect(refused.heard).to.equal('');
      // The first of two pipelined requests is over. The other one begins then.
      responses[1]?.end();
      await busy[1]?.hear(answered);
      await until(() => responses.length === 3);
      await (await open()).closed;

      server.serve(answer);
      responses[0]?.end();
      responses[2]?.end();
      await busy[0]?.hear(answered);
      await busy[1]?.hear(answered, 2);
      await (await open()).say(request).hear(answered);
    });

    it('serves requests while many others wait for a body that never comes', async () => {
      const { open } = await start(readBody, { connections: 10 });
      const waiting = await Promise.all(Array.from({ length: 10 }, open));
      for (const [index, connection] of waiting.entries()) {
        connection.say(index % 2 ? `${upload(9000)}x` : unendingUpload);
      }
      await until(() => arrived === 10);
      for (let time = 0; time < 5; time += 1) {
        await (await open()).say(`${upload(4)}body`).hear('4 bytes');
      }
      await Promise.all(waiting.slice(0, 5).map((connection) => connection.closed));
      expect(waiting.slice(5).some(({ socket }) => socket.destroyed)).to.equal(false);
      waiting[9]?.say('x'.repeat(8999));
      await waiting[9]?.hear('9000 bytes');
    });

    it('closes an idle connection before an upload that makes progress, but not before an upload that drips', async () => {
      const { open } = await start(readBody, { connections: 3 });
      const steady = await open();
      const dripping = await open();
      steady.say(upload(100_000));
      dripping.say(upload(100_000));
      await until(() => arrived === 2);
      const idle = await open();
      dripping.say('x'.repeat(1000));
      steady.say('x'.repeat(20_000));
      await until(() => received === 21_000);
      await (await open()).say(request).hear('0 bytes');
      await dripping.closed;
      await (await open()).say(request).hear('0 bytes');
      await idle.closed;
      steady.say('x'.repeat(80_000));
      await steady.hear('100000 bytes');
    });

    it('does not close a connection whose body has arrived, or waits in the relay', async () => {
      const { open } = await start(hold, { connections: 2 });
      const complete = (await open()).say(`${upload(4)}body`);
      const unread = (await open()).say(`${upload(9000)}x`);
      await until(() => responses.length === 2);
      responses[0]?.req.resume();
      await (await open()).closed;
      for (const response of responses) response.end('answered');
      await complete.hear('answered');
      await unread.hear('answered');
    });

    it('closes connections that do not read their answer rather than the new connection, but not connections that read', async () => {
      const part = Buffer.alloc(16_384);
      const { open } = await start(
        (_request, response) => Readable.from(Array.from({ length: 2000 }, () => part)).pipe(response),
        { connections: 3 },
      );
      const slow = await open();
      const slower = await open();
      const steady = await open();
      for (const { socket } of [slow, slower, steady]) socket.pause();
      for (const connection of [steady, slower, slow]) {
        const read = connection.socket.bytesRead;
        connection.say(request);
        connection.socket.resume();
        await until(() => connection.socket.bytesRead > read);
        connection.socket.pause();
      }
      const drip = setInterval(() => slow.socket.read(1), 5);
      cleanUp.push(() => clearInterval(drip));
      const isServed = async () => {
        const before = steady.socket.bytesRead;
        steady.socket.resume();
        await until(() => steady.socket.bytesRead > before + 1_000_000);
        steady.socket.pause();
        const asked = (await open()).say(request).hear(answered);
        return asked.then(
          () => true,
          () => false,
        );
      };
      let served = 0;
      // The system still accepts some bytes for clients that read nothing.
      for (let time = 0; time < 20 && served < 2; time += 1) served += Number(await isServed());
      expect(served).to.equal(2);
      expect(steady.socket.destroyed).to.equal(false);
      for (const { socket } of [slow, slower]) socket.resume();
      await Promise.all([slow.closed, slower.closed]);
    });

    it('does not count closed connections', async () => {
      const { open } = await start(answer, { connections: 2 });
      for (let time = 0; time < 10; time += 1) {
        const connection = (await open()).say(request);
        await connection.hear(answered);
        connection.socket.end();
        await connection.closed;
      }
      expect(hits).to.deep.equal([]);
    });
  });

  it('does not mix a response in progress with the answer to malformed bytes after it', async () => {
    const { open } = await start(hold);
    const connection = (await open()).say(request);
    await until(() => responses.length === 1);
    responses[0]?.write('begun');
    await connection.hear('begun');
    connection.say('NONSENSE\r\n\r\n');
    await new Promise(setImmediate);
    responses[0]?.end('ended');
    await connection.closed;
    expect(connection.heard).to.match(/begun.*ended\r\n0\r\n\r\nHTTP\/1\.1 400 /s);
  });

  it('keeps as many headers as a request may have', async () => {
    const { open } = await start((incoming, response) => {
      response.end(`last is ${incoming.headers['x-last']}`);
    });
    const many = 'a:\r\n'.repeat(limits.headers - 2);
    const connection = await open();
    connection.say(`GET / HTTP/1.1\r\nHost: a\r\n${many}X-Last: here\r\n\r\n`);
    await connection.hear('last is here');
  });

  it('closes all connections some time after its end, even with requests in flight', async () => {
    const { server, open } = await start(hold, { stopTime: short });
    const connection = (await open()).say(request);
    await until(() => responses.length === 1);
    await server.close();
    await connection.closed;
    expect(connection.heard).to.equal('');
  });
});
