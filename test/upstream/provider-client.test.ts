import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { createUpstreamClient, type UpstreamClient } from '../../src/upstream/client.ts';
import type { UpstreamCall } from '../../src/upstream/messages.ts';
import { codeOf } from '../harness/expect/failure-code.ts';
import { type Serving, serve } from '../harness/provider/serve.ts';

describe('the provider client', () => {
  let server: Serving;
  let client: UpstreamClient;
  let listener: RequestListener;
  let requests: number;

  beforeEach(async () => {
    requests = 0;
    server = await serve((request, response) => {
      requests += 1;
      listener(request, response);
    });
    client = createUpstreamClient({ timeout: 10_000, concurrentCalls: 2 });
  });
  afterEach(async () => {
    client.close();
    await server.close();
  });

  const url = () => `http://127.0.0.1:${server.port}/`;
  const answerA: RequestListener = (_, response) => response.end('a');
  const refuse408: RequestListener = (_, response) => response.writeHead(408).end('a');

  async function call(by = client): Promise<{ outcome: string; call: UpstreamCall | undefined }> {
    let seen: UpstreamCall | undefined;
    const request = { endpoint: 'user', method: 'GET', url: url(), headers: {} } as const;
    try {
      const { status, body } = await by.call(request, (observed) => {
        seen = observed;
      });
      return { outcome: `${status} ${Buffer.from(body)}`, call: seen };
    } catch (error) {
      return { outcome: codeOf(error), call: seen };
    }
  }

  it('keeps its connection for the next call', async () => {
    listener = answerA;
    for (const _ of [1, 2, 3]) expect((await call()).outcome).to.equal('200 a');
    expect(server.connections).to.equal(1);
  });

  it('ignores bytes that a keep-alive connection sent before the request', async () => {
    listener = (_, response) => response.end('asked');
    await call();
    const [kept] = server.sockets;
    // The bytes have arrived before the call, but are not read yet.
    kept?.write('HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nunasked');
    expect((await call()).outcome).to.equal('200 asked');
    expect(server.connections).to.equal(2);
  });

  it('treats 408 on a new connection as the answer', async () => {
    listener = refuse408;
    expect((await call()).outcome).to.equal('408 a');
    expect(server.connections).to.equal(1);
  });

  const breakOff: RequestListener = ({ socket }) => socket.destroy();
  for (const [what, second, third, outcome, requestCount] of [
    ['is retried on a new connection if it was closed', breakOff, answerA, '200 a', 3],
    ['is retried if it was ended with 408', refuse408, answerA, '200 a', 3],
    ['is retried only once', breakOff, breakOff, 'provider_unreachable', 3],
    ['is not retried if the client itself has closed it', () => client.close(), answerA, 'provider_unreachable', 2],
    [
      'is not retried after the first byte of a response',
      ({ socket }) => socket.write('H', () => socket.destroy()),
      answerA,
      'provider_unreachable',
      2,
    ],
  ] as [string, RequestListener, RequestListener, string, number][]) {
    it(`a call on a keep-alive connection ${what}`, async () => {
      const listeners = [answerA, second, third];
      listener = (request, response) => listeners[requests - 1]?.(request, response);
      expect((await call()).outcome).to.equal('200 a');
      expect((await call()).outcome).to.equal(outcome);
      expect(requests).to.equal(requestCount);
      expect(server.connections).to.equal(requestCount - 1);
    });
  }

  it('does not retry a call that failed on a new connection', async () => {
    listener = breakOff;
    expect((await call()).outcome).to.equal('provider_unreachable');
    expect(requests).to.equal(1);
  });

  it('does not retry a call that timed out', async () => {
    // Long enough for the first call on a busy machine.
    const hasty = createUpstreamClient({ timeout: 2_000, concurrentCalls: 2 });
    listener = (_, response) => {
      if (requests === 1) response.end('a');
    };
    await call(hasty);
    expect((await call(hasty)).outcome).to.equal('provider_timeout');
    expect(requests).to.equal(2);
    hasty.close();
  });

  it('keeps the deadline if the response arrives slowly', async () => {
    const hasty = createUpstreamClient({ timeout: 150, concurrentCalls: 2 });
    listener = (_, response) => {
      const drip = setInterval(() => response.write('a'), 20);
      response.on('close', () => clearInterval(drip));
    };
    expect((await call(hasty)).outcome).to.equal('provider_timeout');
    hasty.close();
  });

  it('accepts an answer of 1 MiB and refuses a longer answer, compressed or not', async () => {
    const mebibyte = 1024 * 1024;
    for (const [length, zipped] of [
      ...[mebibyte, mebibyte + 1].flatMap((size) => [false, true].map((zip) => [size, zip] as const)),
      [64 * mebibyte, true] as const,
    ]) {
      listener = (_, response) => {
        const body = Buffer.alloc(length, 'a');
        if (zipped) response.setHeader('content-encoding', 'gzip');
        response.end(zipped ? gzipSync(body) : body);
      };
      const { outcome } = await call();
      expect(outcome.slice(0, 30), `${length} ${zipped}`).to.equal(
        length > mebibyte ? 'provider_answer_unusable' : `200 ${'a'.repeat(26)}`,
      );
    }
  });

  for (const [status, outcome] of [
    [500, '500 '],
    [200, 'provider_unreachable'],
  ] as const) {
    it(`ends with ${outcome} if the body of a ${status} is cut short`, async () => {
      listener = ({ socket }, response) => {
        response.writeHead(status, { 'content-length': 100 });
        response.write('a', () => socket.destroy());
      };
      expect((await call()).outcome).to.equal(outcome);
    });
  }

  it('refuses a call beyond the limit at once, and accepts calls again when one has ended', async () => {
    const waiting: (() => void)[] = [];
    const { promise: bothArrived, resolve: arrived } = Promise.withResolvers<void>();
    listener = (_, response) => {
      waiting.push(() => response.end('a'));
      if (waiting.length === 2) arrived();
    };
    const calls = [call(), call()];
    await bothArrived;
    const refused = await call();
    expect(refused.outcome).to.equal('overloaded');
    expect(refused.call, 'a call was made').to.equal(undefined);
    for (const answer of waiting) answer();
    await Promise.all(calls);
    listener = answerA;
    expect((await call()).outcome).to.equal('200 a');
  });

  it('tells its observer the outcome of each call', async () => {
    listener = (_, response) => response.writeHead(404).end();
    const { call: observed } = await call();
    expect(observed).to.include({ endpoint: 'user', outcome: 'answered', status: 404 });
    expect(observed?.durationMs).to.be.greaterThan(0);
  });
});
