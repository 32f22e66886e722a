import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { expect } from 'chai';
import { expectSessionFailure, SessionPage } from '../harness/login/session-page.ts';
import { apiPath, useRelayedApi } from './support/relayed-api.ts';

/** Whether the body of a response is complete. */
async function isComplete(response: IncomingMessage): Promise<boolean> {
  return await buffer(response).then(
    () => true,
    () => false,
  );
}

async function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  const [response] = await once(request, 'response');
  return response;
}

describe('bodies between a page and the API', () => {
  const api = useRelayedApi();

  /** The response to a request of the page, or of the one with this cookie. */
  const response = (cookie = api.page.cookie) => responseTo(api.open('a', 'GET', { Cookie: cookie }).end());

  /** Lets the API answer every request without an end. */
  function holdAnswers(): readonly ServerResponse[] {
    const held: ServerResponse[] = [];
    api.answer = (_, answer) => {
      answer.writeHead(200).flushHeaders();
      held.push(answer);
      const beat = setInterval(() => answer.write('.'), 100);
      answer.on('close', () => clearInterval(beat));
      answer.on('finish', () => clearInterval(beat));
    };
    return held;
  }

  it('begin to arrive before they are complete, after their head, which waits for none of them', async () => {
    const begun = Promise.withResolvers<ServerResponse>();
    api.answer = (_, answer) => {
      answer.writeHead(200, { 'Content-Length': '9' }).flushHeaders();
      begun.resolve(answer);
    };
    const answer = await response();
    const ofApi = await begun.promise;
    ofApi.write('first');
    const [first] = await once(answer, 'data');
    expect(`${first}`).to.equal('first');
    ofApi.end('last');
    expect(await text(answer)).to.equal('last');
  });

  it('are asked for if the client waits for that', async () => {
    api.answer = async (request, answer) => answer.end(await text(request));
    const request = api.open('a', 'PUT', { Expect: '100-continue', 'Content-Length': '4' });
    request.flushHeaders();
    await once(request, 'continue');
    request.end('body');
    const answer = await responseTo(request);
    expect(await text(answer)).to.equal('body');
    expect(api.only().headers).not.to.have.property('expect');
  });

  it('that are small hold no call until they are complete', async () => {
    const methods: unknown[] = [];
    api.answer = async (request, answer) => {
      methods.push(request.method);
      answer.end(await text(request));
    };
    const request = api.open('a', 'PUT', { 'Content-Length': '4' });
    request.write('b');
    expect(await text(await response())).to.equal('');
    expect(methods).to.deep.equal(['GET']);
    request.end('ody');
    const answer = await responseTo(request);
    expect(await text(answer)).to.equal('body');
  });

  it('of GET are not passed on', async () => {
    const request = api.open('a', 'GET', { 'Content-Length': '4' });
    request.end('body');
    const answer = await responseTo(request);
    expect(answer.statusCode).to.equal(200);
    await text(answer);
    expect(api.only().headers).not.to.have.property('content-length');
    expect(api.only().headers).not.to.have.property('transfer-encoding');
  });

  it('that are too large are refused before the API is asked', async () => {
    const request = api.open('a', 'POST', { 'Content-Length': `${64 * 1024 * 1024 + 1}` });
    request.flushHeaders();
    request.on('error', () => {});
    const answer = await responseTo(request);
    expect(answer.statusCode).to.equal(413);
    expect(JSON.parse(await text(answer))).to.have.property('error', 'upload_too_large');
    expect(api.requests).to.be.empty;
  });

  it('with another coding than chunked are refused', async () => {
    const raw = await api.relay.sendBytes(
      `POST /api/github/a HTTP/1.1\r\nHost: relay.example\r\nX-Login-Relay: 1\r\nCookie: ${api.page.cookie}\r\nTransfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n0\r\n\r\n`,
    );
    expect(raw.status).to.equal(400);
    expect(api.requests).to.be.empty;
  });

  it('cannot smuggle a request', async () => {
    for (const framing of [
      'Connection: content-length\r\nContent-Length: 30',
      'Connection: transfer-encoding\r\nTransfer-Encoding: chunked',
    ]) {
      const isChunked = framing.includes('chunked');
      const inner = 'GET /admin HTTP/1.1\r\nHost: x\r\n';
      const body = isChunked ? `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n` : inner;
      const length = framing.replace('30', `${inner.length}`);
      api.answer = async (request, answer) => answer.end(await text(request));
      const raw = await api.relay.sendBytes(
        `DELETE /api/github/a HTTP/1.1\r\nHost: relay.example\r\nX-Login-Relay: 1\r\nCookie: ${api.page.cookie}\r\n${length}\r\n\r\n${body}GET /healthz HTTP/1.1\r\nHost: relay.example\r\nConnection: close\r\n\r\n`,
      );
      expect(raw.status).to.equal(200);
      expect(`${raw.body}`).to.include(inner);
    }
    expect(api.requests.map(({ method, url }) => `${method} ${url}`)).to.deep.equal(['DELETE /v3/a', 'DELETE /v3/a']);
  });

  it('end in the API if the client disconnects during the answer', async () => {
    let closed: Promise<unknown> | undefined;
    api.answer = (_, answer) => {
      closed = once(answer, 'close');
      answer.writeHead(206).write('first');
    };
    const answer = await response();
    await once(answer, 'data');
    answer.destroy();
    await closed;
    const line = await api.relay.process.logLine(({ status }) => status === 206);
    expect(line).to.include({ outcome: 'client_gone' });
    expect(line['provider']).to.include({ outcome: 'client_gone', status: 206 });
  });

  for (const [framing, headers] of [
    ['of known length', { 'Content-Length': '10' }],
    ['in chunks', {}],
  ] as const) {
    it(`${framing} that break off in the API break off at the client`, async () => {
      api.answer = (request, answer) => {
        answer.writeHead(200, headers).write('first', () => request.socket.destroy());
      };
      expect(await isComplete(await response())).to.equal(false);
      const line = await api.lineOf('provider_unreachable');
      expect(line).to.include({ status: 200 });
    });
  }

  it('can be answered before they are complete', async () => {
    api.answer = (_, answer) => answer.writeHead(422, { Connection: 'close' }).end('too much');
    const request = api.open('a', 'POST', { 'Transfer-Encoding': 'chunked' });
    request.on('error', () => {});
    request.write('first');
    const answer = await responseTo(request);
    expect(answer.statusCode).to.equal(422);
    expect(answer.headers.connection).to.equal('close');
    expect(await text(answer)).to.equal('too much');
  });

  it('go on while the relay reads its configuration again', async () => {
    const held = holdAnswers();
    const answer = await response();
    await api.relay.reload();
    await once(answer, 'data');
    for (const one of held) one.end('last');
    expect(await text(answer)).to.match(/last$/);
    api.answer = (_, next) => next.end('next');
    expect(`${(await api.send('a')).body}`).to.equal('next');
  });

  it('leave room for others if four sessions take all, and for logins and user lookups', async () => {
    const held = holdAnswers();
    const pages = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const page = new SessionPage(() => api.relay, api.provider);
        await page.logIn();
        return page;
      }),
    );
    const open = await Promise.all(pages.flatMap(({ cookie }) => Array.from({ length: 32 }, () => response(cookie))));
    for (const page of pages) {
      expectSessionFailure(await page.send(`${apiPath}a`), 'overloaded');
    }
    const ends = open.map(isComplete);
    const honest = await response();
    expect(honest.statusCode).to.equal(200);
    expect(await Promise.race(ends)).to.equal(false);
    await api.relay.process.logLine(
      ({ outcome, status, level }) => outcome === 'overloaded' && status === 200 && level === 'warn',
    );
    expect((await api.page.lookUp()).status).to.equal(200);
    for (const answer of [...open, honest]) answer.destroy();
    await Promise.all(held.map((answer) => answer.destroyed || once(answer, 'close')));
  });
});

describe('bodies between a page and an API that is silent', () => {
  const api = useRelayedApi({ 'provider-timeout': '2' });

  it('break off if the API falls silent', async () => {
    api.answer = (_, answer) => answer.writeHead(203).write('first');
    expect(await isComplete(await responseTo(api.open('a', 'GET').end()))).to.equal(false);
    expect(await api.relay.process.logLine(({ status }) => status === 203)).to.include({
      outcome: 'provider_timeout',
    });
  });

  it('get 504 if the API does not answer, and 502 if it hangs up', async () => {
    api.answer = () => {};
    expectSessionFailure(await api.send('a'), 'provider_timeout');
    api.answer = ({ socket }) => socket.destroy();
    expectSessionFailure(await api.send('a', 'POST'), 'provider_unreachable');
  });
});
