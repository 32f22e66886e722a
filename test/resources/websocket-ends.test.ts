import { once } from 'node:events';
import type { Socket } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { limits } from '../../src/limits.ts';
import { createMetrics } from '../../src/observability/request-metrics.ts';
import { Secret } from '../../src/sealing/secret.ts';
import { issueCertificate } from '../harness/system/certificate.ts';
import { eventually } from '../harness/system/eventually.ts';
import { tlsPorts } from '../harness/system/variant.ts';
import { urls } from './support/gateway-relay.ts';
import { closing, frame, opening, switching, webSocketRelay } from './support/websocket-relay.ts';

const metrics = createMetrics(() => ({ callsInFlight: 0, ready: true, providers: [] }));
const lifetime = 3_600_000;
/** Milliseconds: enough for a busy machine to open a WebSocket. */
const short = 1_000;

describe('the end of a WebSocket through the gateway', () => {
  const sockets = webSocketRelay({ observers: [metrics.observe] });
  const { relay } = sockets;
  let token: string;
  let refreshToken: string;
  beforeEach(async () => {
    ({ access_token: token, refresh_token: refreshToken } = await relay().tokens());
  });
  /** Waits for the line of the WebSocket. */
  async function expectLine(line: Record<string, unknown>): Promise<void> {
    await eventually(async () => {
      const lines = relay().lines.filter(({ status }) => status === 101);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.deep.include({ ...line, action: 'gateway' });
    });
  }

  it('comes with its token, its login, or a reload that concerns it, and the client is told', async () => {
    const changed = `{ url: ${urls.notes}, upstream: http://127.0.0.1:${sockets.behindPort}/other }`;
    const expire = async () => {
      relay().ahead += lifetime;
    };
    for (const [reason, end] of [
      ['token_end', expire],
      ['logout', () => relay().post('revoke', { client_id: 'app', token: refreshToken })],
      ['reload', () => relay().reload(relay().settings({ notes: changed }))],
    ] as const) {
      const tokens = await relay().tokens();
      refreshToken = tokens.refresh_token;
      relay().lines.length = 0;
      const { client, behind, got } = await sockets.open(tokens.access_token);
      behind.socket.write(frame('a message'));
      client.say('four');
      await Promise.all([client.hear('a message'), behind.hear('four')]);
      await end();
      await Promise.all([client.closed, behind.closed]);
      expect(got(), reason).to.equal(frame('a message').toString('latin1') + closing(1008, reason));
      await expectLine({ outcome: 'ok', ended: reason, level: 30, webSocket: { received: 4, sent: 11 } });
    }
    await relay().reload(relay().settings({}, sockets.behindPort));
    const text = await metrics.text();
    for (const line of [
      'login_relay_resource_streams_ended_total{resource="notes",reason="logout"} 1',
      'login_relay_resource_websocket_bytes_total{resource="notes",direction="received"} 12',
      'login_relay_resource_websocket_bytes_total{resource="notes",direction="sent"} 33',
    ]) {
      expect(text).to.include(line);
    }
  });

  it('goes on after a reload that does not concern it', async () => {
    const { client, behind } = await sockets.open(token);
    await relay().reload(relay().settings({ files: '' }, sockets.behindPort));
    behind.socket.write('still here');
    await client.hear('still here');
    client.say('here as well');
    await behind.hear('here as well');
  });

  afterEach(() => mock.timers.reset());

  it('is told between two frames, or not at all', async () => {
    const message = frame('x'.repeat(70_000)).toString('latin1');
    const bye = closing(1008, 'reload');
    let path = 0;
    for (const cut of [1, 3, 9, 10, 5_000, message.length - 1]) {
      const whole = message.slice(cut);
      for (const rest of [whole, `${whole}${frame('next')}`, '']) {
        const { access_token } = await relay().tokens();
        const { client, behind, got } = await sockets.open(access_token);
        const before = message + message.slice(0, cut);
        behind.socket.write(before, 'latin1');
        await eventually(async () => expect(got()).to.have.length(before.length));
        path += 1;
        const other = `{ url: ${urls.notes}, upstream: http://127.0.0.1:${sockets.behindPort}/${path} }`;
        mock.timers.enable({ apis: ['setTimeout'] });
        await relay().reload(relay().settings({ notes: other }));
        client.say('too late');
        if (rest === '') mock.timers.tick(limits.lingerTime);
        else behind.socket.write(rest, 'latin1');
        await Promise.all([client.closed, behind.closed]);
        mock.timers.reset();
        expect(got() === (rest === '' ? before : message + message + bye), `${cut} ${rest.length}`).to.equal(true);
        expect(behind.heard()).not.to.include('too late');
      }
    }
  });

  it('is passed on to the other side, whether it comes from the client or the server', async () => {
    const first = await sockets.open(token);
    first.behind.socket.allowHalfOpen = true;
    first.client.socket.end('last words');
    await first.behind.hear('last words');
    await once(first.behind.socket, 'end');
    first.behind.socket.end('an answer');
    await first.client.closed;
    expect(first.got()).to.equal('an answer');
    await expectLine({ outcome: 'ok', ended: 'client', webSocket: { received: 10, sent: 9 } });
    relay().lines.length = 0;
    const second = await sockets.open(token);
    second.behind.socket.end('last words');
    await Promise.all([second.client.closed, second.behind.closed]);
    expect(second.got()).to.equal('last words');
    await expectLine({ outcome: 'ok', ended: 'upstream', webSocket: { received: 0, sent: 10 } });
  });

  it('of the server may come with its 101', async () => {
    const client = await sockets.connect();
    client.say(opening(token));
    const behind = await sockets.behind();
    await behind.hear('\r\n\r\n');
    behind.socket.end(`${switching()}hello and goodbye`);
    await client.closed;
    expect(client.heard).to.match(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\nhello and goodbye$/);
    await expectLine({ outcome: 'ok', ended: 'upstream' });
  });

  it('by a reset of one side also ends the other side', async () => {
    const first = await sockets.open(token);
    first.client.socket.resetAndDestroy();
    await first.behind.closed;
    await expectLine({ outcome: 'client_gone', ended: 'client', level: 30 });
    relay().lines.length = 0;
    const second = await sockets.open(token);
    second.behind.socket.resetAndDestroy();
    await second.client.closed;
    expect(second.got()).to.equal('');
    await expectLine({ outcome: 'upstream_unreachable', ended: 'upstream', level: 40 });
  });

  it('by the client before the 101 closes the connection to the server, and frees the place', async () => {
    for (const leave of ['end', 'resetAndDestroy'] as const) {
      relay().lines.length = 0;
      const client = await sockets.connect();
      client.say(opening(token));
      const behind = await sockets.behind();
      await behind.hear('\r\n\r\n');
      client.socket[leave]();
      await behind.closed;
      await eventually(async () => {
        expect(relay().lines.at(-1)).to.include({ status: 499, outcome: 'client_gone', ended: 'client' });
      });
    }
  });

  it('does not come from silence', async () => {
    const server = await sockets.listen({
      answerTime: short,
      keepAliveTime: short,
      headersTime: short,
      requestTime: short,
    });
    const { client, behind } = await sockets.open(token, server);
    await new Promise((resolve) => setTimeout(resolve, 2.5 * short));
    behind.socket.write('still here');
    await client.hear('still here');
    client.say('here as well');
    await behind.hear('here as well');
  });

  it('comes to a client that takes nothing, and neither side can fill the memory', async () => {
    const mebibyte = Buffer.alloc(1024 * 1024, 'x');
    /** Writes as much as the other side lets through. */
    const fill = async (socket: Socket) => {
      let written = 0;
      while (socket.write(mebibyte)) written += 1;
      for (;;) {
        written += 1;
        const drained = new Promise((resolve) => socket.once('drain', () => resolve(true)));
        if (!(await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, 500))]))) return written;
        socket.write(mebibyte);
      }
    };
    const patient = await sockets.open(token);
    patient.behind.socket.pause();
    // The buffers of the system for both connections.
    expect(await fill(patient.client.socket)).to.be.below(32);
    patient.client.socket.pause();
    expect(await fill(patient.behind.socket)).to.be.below(32);
    patient.client.close();
    const hasty = await sockets.open(token, await sockets.listen({ answerTime: short }));
    hasty.client.socket.pause();
    await fill(hasty.behind.socket);
    await hasty.behind.closed;
    hasty.client.socket.resume();
    await hasty.client.closed;
  });

  it('leaves nothing behind, many times', async () => {
    const server = await sockets.listen();
    for (let turn = 0; turn < limits.streamsOfLogin + 8; turn += 1) {
      const { client, behind } = await sockets.open(token, server);
      expect(server.requestsInFlight()).to.equal(1);
      behind.socket.end();
      await client.closed;
      await eventually(async () => expect(server.requestsInFlight()).to.equal(0));
    }
  });

  it('frees one of the 32 places of its login, which it shares with all other requests', async () => {
    const server = await sockets.listen();
    const all = [];
    for (let count = 0; count < limits.streamsOfLogin; count += 1) all.push(await sockets.open(token, server));
    const refused = await sockets.connect(server);
    refused.say(opening(token));
    await refused.closed;
    expect(refused.heard).to.match(/^HTTP\/1\.1 503 [\s\S]*\r\nretry-after: 5\r\n/i);
    expect((await relay().use('notes', token)).status).to.equal(503);
    expect(relay().lines.filter(({ outcome }) => outcome === 'streams_full')).to.have.length(2);
    all[0]?.client.close();
    await all[0]?.behind.closed;
    await sockets.open(token, server);
  });

  it('comes with the stop of a server that is closed although the WebSocket goes on', async () => {
    const server = await sockets.listen({ stopTime: 100 });
    const { client, behind } = await sockets.open(token, server);
    await server.close();
    await Promise.all([client.closed, behind.closed]);
  });

  it('is the same over TLS', async () => {
    const { key, cert: chain, remove } = await issueCertificate('notes.example.com');
    const server = await sockets.listen({}, { key: new Secret(key), chain, files: [] });
    await remove();
    tlsPorts.add(Number(new URL(server.address).port));
    const { client, behind, got } = await sockets.open(token, server);
    client.say('from the client');
    await behind.hear('from the client');
    behind.socket.end('from the server');
    await client.closed;
    expect(got()).to.equal('from the server');
  });
});
