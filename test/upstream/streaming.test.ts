import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { limits } from '../../src/limits.ts';
import { createUpstreamClient, type UpstreamClient } from '../../src/upstream/client.ts';
import type { StreamedRequest, StreamedResponse, UpstreamCall } from '../../src/upstream/messages.ts';
import { outcomeOf } from '../harness/expect/failure-code.ts';
import { type Serving, serve } from '../harness/provider/serve.ts';

describe('a streamed call', () => {
  let server: Serving;
  let client: UpstreamClient;
  let listener: RequestListener;
  let requests: number;
  let sent: number;
  let seen: (UpstreamCall & { readonly isSent: boolean })[];

  beforeEach(async () => {
    requests = 0;
    seen = [];
    server = await serve((request, response) => {
      requests += 1;
      listener(request, response);
    });
    client = createUpstreamClient({ timeout: 10_000, concurrentCalls: 4 });
  });
  afterEach('no call is left', async () => {
    const left = client.inFlight();
    client.close();
    await server.close();
    expect(left).to.equal(0);
  });

  type Streamed = Pick<StreamedResponse, 'headers'> & { readonly body: Readable };

  async function stream(changes: Partial<StreamedRequest> = {}, by = client): Promise<Streamed> {
    const body = new PassThrough();
    const request: StreamedRequest = {
      holder: { session: 'a', address: undefined },
      method: 'GET',
      url: new URL(`http://127.0.0.1:${server.port}/a?b`),
      headers: {},
      client: body,
      ...changes,
    };
    const transfer = by.stream(request, (call, isSent) => seen.push({ ...call, isSent }));
    const { headers, hasBody, send } = await transfer.response;
    if (hasBody) send();
    else body.end();
    return { headers, body };
  }

  /** Writes so many bytes, as fast as they are read, and counts them. */
  const pour = (whole: number): RequestListener => {
    const chunk = Buffer.alloc(64 * 1024);
    sent = 0;
    return (_, response) => {
      const write = () => {
        while (sent < whole && !response.destroyed) {
          sent += chunk.length;
          if (!response.write(chunk)) return;
        }
        response.end();
      };
      response.on('drain', write);
      write();
    };
  };

  const upload = (content: Readable, length?: number) => ({ content, length });

  it('passes on compressed bytes as they are', async () => {
    const bytes = gzipSync('text');
    listener = (_, response) => response.setHeader('Content-Encoding', 'gzip').end(bytes);
    const { body, headers } = await stream({ headers: { 'accept-encoding': 'gzip' } });
    expect(headers['content-encoding']).to.equal('gzip');
    expect(await buffer(body)).to.deep.equal(bytes);
  });

  for (const length of [3, undefined]) {
    it(`sends a body ${length === undefined ? 'of unknown length' : 'with its length'}`, async () => {
      listener = async (request, response) => {
        const { 'content-length': told, 'transfer-encoding': coding } = request.headers;
        response.end(`${request.method} ${told} ${coding} ${await text(request)}`);
      };
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
        const { body } = await stream({
          method,
          body: upload(Readable.from(['a', 'bc']), length),
        });
        const framing = length === undefined ? 'undefined chunked' : '3 undefined';
        expect(await text(body)).to.equal(`${method} ${framing} abc`);
      }
    });
  }

  it('sends a request without a body as one', async () => {
    listener = async (request, response) => {
      response.end(`${request.headers['content-length']} ${await text(request)}`);
    };
    for (const method of ['POST', 'DELETE'] as const) {
      expect(await text((await stream({ method })).body)).to.equal('0 ');
    }
    expect(await text((await stream()).body)).to.equal('undefined ');
  });

  it('keeps its connection, even after HEAD, 204 and 304', async () => {
    const statuses = [200, 204, 304, 200, 200];
    listener = (request, response) => {
      response.statusCode = statuses.shift() ?? 200;
      if (request.method === 'HEAD') response.setHeader('Content-Length', 1);
      response.end(request.method === 'HEAD' || response.statusCode !== 200 ? undefined : 'a');
    };
    for (const method of ['GET', 'GET', 'GET', 'HEAD', 'GET'] as const) {
      expect(await text((await stream({ method })).body)).to.have.length.below(2);
      // Node gives the connection back one turn later.
      await setImmediate();
    }
    expect(seen.map(({ status }) => status)).to.deep.equal([200, 204, 304, 200, 200]);
    expect(server.connections).to.equal(1);
  });

  it('passes on a response that cannot have a body, and drops the body that its server sends', async () => {
    for (const [method, status] of [
      ['HEAD', 200],
      ['GET', 204],
      ['GET', 304],
    ] as const) {
      listener = ({ socket }) => {
        socket.write(`HTTP/1.1 ${status} A\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb`);
      };
      expect(await text((await stream({ method })).body)).to.equal('');
      expect(seen.at(-1)).to.include({ outcome: 'answered', status });
      listener = (_, response) => void response.end('a');
      expect(await text((await stream()).body)).to.equal('a');
    }
  });

  const breakTheSecond: RequestListener = ({ socket }, response) => {
    if (requests === 2) socket.destroy();
    else response.end('a');
  };

  it('tries again on a new connection if a kept connection was closed', async () => {
    listener = breakTheSecond;
    await text((await stream()).body);
    expect(await text((await stream()).body)).to.equal('a');
    expect(requests).to.equal(3);
    expect(seen).to.have.length(2);
  });

  it('does not send a body on a kept connection, so that it is sent only once', async () => {
    listener = breakTheSecond;
    await text((await stream()).body);
    const posted = stream({ method: 'POST', body: upload(Readable.from(['a'])) });
    expect(await outcomeOf(posted)).to.equal('provider_unreachable');
    expect(requests).to.equal(2);
    expect(server.connections).to.equal(2);
  });

  it('sends a POST or PATCH without a body only once, though a kept connection was closed', async () => {
    const gateway = createUpstreamClient({ timeout: 10_000, concurrentCalls: 4, destination: 'resource' });
    for (const method of ['POST', 'PATCH'] as const) {
      requests = 0;
      listener = breakTheSecond;
      await text((await stream({ method }, gateway)).body);
      await setImmediate();
      expect(await outcomeOf(stream({ method }, gateway))).to.equal('provider_unreachable');
      expect(requests).to.equal(2);
    }
    gateway.close();
  });

  it('passes on a body that has come whole in several chunks', async () => {
    for (const chunks of [0, 1, 2, 100]) {
      listener = ({ socket }) => {
        const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
        socket.end(`${head}${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`);
      };
      expect(await text((await stream()).body)).to.equal('x'.repeat(chunks));
    }
  });

  it('passes on many small chunks with few writes, because one write for each chunk would delay everybody', async () => {
    const chunks = 2_000;
    const { promise: begun, resolve: begin } = Promise.withResolvers<Socket>();
    listener = ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      begin(socket);
    };
    let writes = 0;
    const body = new PassThrough({
      transform(chunk, _, done) {
        writes += 1;
        done(null, chunk);
      },
    });
    await stream({ client: body });
    (await begun).end(`${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`);
    expect(await text(body)).to.equal('x'.repeat(chunks));
    expect(writes).to.be.below(chunks / 20);
  });

  it('waits for a response after a few that are not final, but not after any number of them', async () => {
    for (const [count, outcome] of [
      [20, 'answered'],
      [2_000, 'provider_unreachable'],
    ] as const) {
      listener = ({ socket }) => {
        const interim = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(count);
        socket.end(`${interim}HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na`);
      };
      await stream()
        .then(({ body }) => text(body))
        .catch(() => {});
      expect(seen.at(-1)?.outcome).to.equal(outcome);
    }
  });

  it('passes on a 408 to what is sent only once, although its connection was kept', async () => {
    const gateway = createUpstreamClient({ timeout: 10_000, concurrentCalls: 4, destination: 'resource' });
    const statuses = [200, 408];
    listener = (_, response) => response.writeHead(statuses.shift() ?? 500).end('a');
    for (const status of [200, 408]) {
      await text((await stream({ method: 'POST' }, gateway)).body);
      await setImmediate();
      expect(seen.at(-1)).to.include({ outcome: 'answered', status });
    }
    expect(server.connections).to.equal(1);
    gateway.close();
  });

  it('ends at a limit of size', async () => {
    listener = pour(Number.POSITIVE_INFINITY);
    const { body } = await stream();
    let size = 0;
    body.on('data', (data: Buffer) => {
      size += data.length;
    });
    const [error] = await once(body, 'error').catch((failure: unknown) => [failure]);
    expect(error).to.include({ code: 'provider_answer_unusable' });
    expect(size).to.be.within(limits.apiResponseSize - 2 ** 20, limits.apiResponseSize + 2 ** 20);
  });

  it('refuses an upload beyond the limit', async () => {
    let received = 0;
    listener = (request) => {
      request.on('data', (data: Buffer) => {
        received += data.length;
      });
    };
    const chunk = Buffer.alloc(1024 * 1024);
    const content = Readable.from(
      (function* () {
        for (;;) yield chunk;
      })(),
    );
    const posted = stream({ method: 'POST', body: upload(content) });
    expect(await outcomeOf(posted)).to.equal('upload_too_large');
    expect(received).to.be.at.most(limits.apiRequestSize + chunk.length);
  });

  describe('in time', () => {
    let hasty: UpstreamClient;
    beforeEach(() => {
      // Long enough for a busy machine.
      hasty = createUpstreamClient({ timeout: 2_000, concurrentCalls: 4 });
    });
    afterEach(() => hasty.close());

    it('waits for a slow upload', async () => {
      listener = async (request, response) => response.end(await text(request));
      const content = new PassThrough();
      const posted = stream({ method: 'POST', body: upload(content) }, hasty);
      content.write('a');
      await wait(3_000);
      content.end('b');
      expect(await text((await posted).body)).to.equal('ab');
    });

    it('waits for a slow reader, and reads no more than the buffers hold', async () => {
      const whole = 64 * 1024 * 1024;
      listener = pour(whole);
      const { body } = await stream({}, hasty);
      await wait(3_000);
      // The sockets of the system hold some megabytes.
      expect(sent).to.be.below(whole);
      expect(body.readableLength).to.be.at.most(256 * 1024);
      expect((await buffer(body)).length).to.equal(whole);
      expect(seen[0]?.outcome).to.equal('answered');
    });
  });

  it('ends if the client hangs up, before and during the response', async () => {
    for (const answers of [false, true]) {
      const gone = new PassThrough();
      const { promise: arrived, resolve } = Promise.withResolvers<{ closed: Promise<unknown> }>();
      listener = (_, response) => {
        if (answers) response.writeHead(200).write('abc');
        resolve({ closed: once(response, 'close') });
      };
      const call = stream({ client: gone });
      const { closed } = await arrived;
      if (answers) await call;
      gone.destroy();
      if (!answers) expect(await outcomeOf(call)).to.equal('client_gone');
      await closed;
      expect(seen.at(-1)?.outcome).to.equal('client_gone');
    }
  });

  it('is not sent again if it ends before the response, though its connection was kept', async () => {
    listener = (_, response) => void response.end('a');
    await text((await stream()).body);
    await setImmediate();
    const gone = new PassThrough();
    const { promise: arrived, resolve } = Promise.withResolvers<{ closed: Promise<unknown> }>();
    listener = ({ socket }) => resolve({ closed: once(socket, 'close') });
    const call = stream({ client: gone });
    const { closed } = await arrived;
    gone.destroy();
    expect(await outcomeOf(call)).to.equal('client_gone');
    await closed;
    listener = (_, response) => void response.end('b');
    // Another attempt of the first call would arrive before this call.
    expect(await text((await stream()).body)).to.equal('b');
    expect([requests, server.connections]).to.deep.equal([3, 2]);
  });

  it('ends if its body is not wanted any more', async () => {
    let closed: Promise<unknown> | undefined;
    listener = (_, response) => {
      closed = once(response, 'close');
      response.writeHead(200).write('abc');
    };
    const { body } = await stream();
    body.destroy();
    await closed;
  });

  it('makes no call for a client that has hung up before', async () => {
    listener = () => expect.fail('was called');
    const gone = new PassThrough().destroy();
    await once(gone, 'close');
    expect(await outcomeOf(stream({ client: gone }))).to.equal('client_gone');
  });
});
