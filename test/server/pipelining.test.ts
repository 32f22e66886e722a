import { hash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { readAnswers } from '../../fuzz/hostile/answer.ts';
import { limits } from '../../src/limits.ts';
import { Secret } from '../../src/sealing/secret.ts';
import { type ListeningServer, listen } from '../../src/server/server.ts';
import { RawConnection } from '../harness/client/raw-connection.ts';
import { certificateFiles } from '../harness/system/certificate.ts';
import { tlsPorts } from '../harness/system/variant.ts';

const most = limits.requestsOfConnection;
const get = (path: number | string) => `GET /${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const gets = (number: number) => Array.from({ length: number }, (_, index) => get(index)).join('');
const chunked = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
const chunk = '1\r\nx\r\n';

for (const scheme of ['http', 'https']) {
  describe(`a server of ${scheme}, and one connection`, () => {
    let server: ListeningServer;
    let connection: RawConnection;
    let port: number;
    let outcomes: string[] = [];
    const seen: { request: IncomingMessage; response: ServerResponse }[] = [];
    const hold: RequestListener = (request, response) => seen.push({ request, response });
    const answerAll: RequestListener = (request, response) => {
      hold(request, response);
      response.end(request.url);
    };
    const until = async (isSo: () => boolean) => {
      while (!isSo()) await new Promise(setImmediate);
    };
    const statuses = () => readAnswers(connection.heard).answers.map(({ status }) => status);

    let removeFiles = async () => {};
    let certificate: Parameters<typeof listen>[4];
    before(async () => {
      if (scheme === 'http') return;
      const { cert, key, remove } = await certificateFiles('127.0.0.1');
      removeFiles = remove;
      const [chain, secret] = await Promise.all([readFile(cert, 'utf8'), readFile(key, 'utf8')]);
      certificate = { chain, key: new Secret(secret), files: [] };
    });
    after(() => removeFiles());

    beforeEach(async () => {
      seen.length = 0;
      outcomes = [];
      const within = { ...limits, connections: 10, stopTime: 1 };
      const observer = {
        unreadableRequest: ({ outcome }: { outcome: string }) => outcomes.push(outcome),
        limitHit() {},
      };
      server = await listen(answerAll, { host: '127.0.0.1', port: 0 }, within, observer, certificate);
      port = Number(new URL(server.address).port);
      if (scheme === 'https') tlsPorts.add(port);
      connection = await RawConnection.open(port);
    });
    afterEach(async () => {
      connection.close();
      await server.close();
      tlsPorts.delete(port);
    });

    it('answers as many pipelined requests as may wait, in order', async () => {
      connection.say(gets(most));
      await connection.hear('HTTP/1.1 200 ', most);
      const paths = seen.map(({ request }) => request.url);
      expect(paths).to.deep.equal(Array.from({ length: most }, (_, index) => `/${index}`));
      await connection.say(get('later')).hear('/later');
    });

    it('closes it after the answers, with 429, if more come', async () => {
      connection.say(gets(700));
      await connection.closed;
      expect(statuses()).to.deep.equal([...Array(most).fill(200), 429]);
      expect(connection.heard).to.match(/\r\nRetry-After: 1\r\n/);
      expect(seen).to.have.lengthOf(most);
      expect(outcomes).to.deep.equal(['pipelined_too_many']);
      expect(server.requestsInFlight()).to.equal(0);
    });

    it('handles one of its requests at a time', async () => {
      server.serve(hold);
      connection.say(gets(3));
      for (let handled = 1; handled <= 3; handled += 1) {
        await until(() => seen.length === handled);
        expect(server.requestsInFlight()).to.equal(4 - handled);
        for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
        expect(seen).to.have.lengthOf(handled);
        seen.at(-1)?.response.end('answered');
      }
      await connection.hear('answered', 3);
    });

    it('does not begin what waits behind a stream, and forgets it with its client', async () => {
      server.serve(hold);
      connection.say(gets(700));
      await until(() => seen.length === 1);
      seen[0]?.response.write('begun');
      await connection.hear('begun');
      expect(server.requestsInFlight()).to.equal(most);
      connection.close();
      await until(() => server.requestsInFlight() === 0);
      await new Promise(setImmediate);
      expect(seen).to.have.lengthOf(1);
      expect(outcomes).to.deep.equal([]);
    });

    it('does not begin what waits behind the last answer of the connection', async () => {
      server.serve((request, response) => {
        hold(request, response);
        response.setHeader('Connection', 'close');
        response.end();
      });
      await connection.say(gets(3)).closed;
      expect(seen).to.have.lengthOf(1);
    });

    it('refuses a body of too many tiny chunks, and reads no more of it', async () => {
      server.serve(hold);
      connection.say(chunked + chunk.repeat(16_000));
      await connection.closed;
      expect(statuses()).to.deep.equal([413]);
      expect(outcomes).to.deep.equal(['chunks_too_small']);
    });

    it('refuses a further request after the answer, if there is an answer', async () => {
      connection.say(chunked + chunk.repeat(16_000));
      await connection.closed;
      expect(statuses()).to.deep.equal([200, 413]);
    });

    it('hands on tiny chunks together', async () => {
      let parts = 0;
      server.serve((request, response) => {
        request.on('data', () => {
          parts += 1;
        });
        request.on('end', () => response.end(`${parts} parts`));
      });
      connection.say(`${chunked}${chunk.repeat(500)}0\r\n\r\n`);
      await connection.hear(' parts');
      expect(parts).to.be.lessThan(30);
    });

    it('hands on a tiny chunk at once', async () => {
      let text = '';
      server.serve((request, response) => {
        request.on('data', (bytes: Buffer) => {
          text += String(bytes);
        });
        request.on('end', () => response.end(text));
      });
      connection.say(chunked);
      for (let number = 1; number <= 20; number += 1) {
        connection.say(chunk);
        await until(() => text.length === number);
      }
      await connection.say('0\r\n\r\n').hear('x'.repeat(20));
    });

    it('hands on a large body whole, to a reader that pauses, and then the next request', async () => {
      const body = randomBytes(3_000_000);
      server.serve(async (request, response) => {
        if (request.method === 'GET') return void response.end('next');
        const parts: Buffer[] = [];
        for await (const part of request) {
          parts.push(part);
          if (parts.length % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
        }
        response.end(hash('sha256', Buffer.concat(parts)));
      });
      connection.say(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`);
      connection.socket.write(body);
      connection.say(get('next'));
      await connection.hear(hash('sha256', body));
      await connection.hear('next');
    });

    it('hands what follows a CONNECT request to nobody', async () => {
      connection.say(`CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n${'x'.repeat(5000)}${gets(3)}`);
      await connection.closed;
      expect(statuses()).to.deep.equal([404]);
      expect(seen).to.deep.equal([]);
    });
  });
}
