import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { mock } from 'node:test';
import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { limits } from '../../src/limits.ts';
import { createMetrics } from '../../src/observability/request-metrics.ts';
import { createStreams, type Stream } from '../../src/resources/streams.ts';
import { createRoom } from '../../src/upstream/concurrency.ts';
import { type ClientsTurn, startGatewayTimeout } from '../../src/upstream/timeouts.ts';
import { jsonOf } from '../clients/support/clients-relay.ts';
import { RawConnection } from '../harness/client/raw-connection.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { serve } from '../harness/provider/serve.ts';
import { eventually } from '../harness/system/eventually.ts';
import { keyLine } from '../harness/system/secret-file.ts';
import { gatewayRelay, urls } from './support/gateway-relay.ts';
import { ada } from './support/resources-relay.ts';

const metrics = createMetrics(() => ({
  callsInFlight: 0,
  ready: true,
  providers: [],
  streams: new Map([['notes', 3]]),
  streamHolders: { people: 2, most: 2 },
}));
const lifetime = 3_600_000;

describe('a stream through the gateway', () => {
  const relay = gatewayRelay({ observers: [metrics.observe] });
  const open: ServerResponse[] = [];
  let type: string;

  beforeEach(() => {
    open.length = 0;
    type = 'text/event-stream';
    relay().lines.length = 0;
    relay().answer = (request, response) => {
      request.resume();
      response.writeHead(200, { 'Content-Type': type }).write('data: 1\n\n');
      open.push(response);
    };
  });

  /** Begins a stream, whose first event has arrived. */
  async function begin(token: string, method = 'GET', headers: Record<string, string> = {}) {
    const { host, pathname: path } = new URL(urls.notes);
    const all = { Host: host, Authorization: `Bearer ${token}`, ...headers };
    const at = { host: '127.0.0.1', port: relay().port, path, method, agent: false } as const;
    const sent = httpRequest({ ...at, headers: all }).end();
    const [response]: IncomingMessage[] = await once(sent, 'response');
    if (response === undefined) throw new Error('no response');
    const events = await once(response, 'data');
    expect(`${events}`).to.equal('data: 1\n\n');
    /** How it ends: `complete`, or broken off. */
    const end = new Promise<string>((resolve) => {
      response.on('error', () => {}).once('close', () => resolve(response.complete ? 'complete' : 'broken off'));
    });
    return { response: response.resume(), end };
  }
  const upstreamRow = () => `upstream: http://127.0.0.1:${relay().upstreamPort}/mcp`;
  const endsInLog = () => relay().lines.flatMap(({ ended }) => (ended ? [ended] : []));
  const countOf = async (reason: string) => {
    const line = `login_relay_resource_streams_ended_total{resource="notes",reason="${reason}"} `;
    const found = (await metrics.text()).split('\n').find((one) => one.startsWith(line));
    return Number(found?.slice(line.length) ?? 0);
  };
  /** Whether it continues after the relay has checked it. */
  async function expectToGoOn({ response }: { response: IncomingMessage }, at = open.length - 1) {
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    open[at]?.write('data: 2\n\n');
    expect(`${await once(response, 'data')}`).to.equal('data: 2\n\n');
  }

  it('arrives event by event, and ends with its server or its client', async () => {
    const { access_token } = await relay().tokens();
    const first = await begin(access_token);
    const second = await begin(access_token);
    const third = await begin(access_token);
    open[0]?.end();
    expect(await first.end).to.equal('complete');
    open[1]?.socket?.destroy();
    expect(await second.end).to.equal('broken off');
    const gone = once(open[2] as ServerResponse, 'close');
    third.response.destroy();
    await gone;
    await eventually(async () => {
      expect(endsInLog()).to.have.members(['upstream', 'upstream', 'client']);
    });
    const text = await metrics.text();
    expect(text).to.include('login_relay_resource_streams{resource="notes"} 3');
    expect(text).to.include('login_relay_resource_stream_people 2');
    expect(text).to.include('login_relay_resource_stream_person_max 2');
  });

  it('ends with its token if it listens; an answer has ten minutes more', async () => {
    const { access_token } = await relay().tokens();
    const listening = [
      await begin(access_token),
      await begin(access_token, 'POST', { 'Mcp-Method': 'subscriptions/listen' }),
    ];
    const answer = await begin(access_token, 'POST');
    const before = await countOf('token_end');
    relay().ahead += lifetime;
    for (const { end } of listening) expect(await end).to.equal('complete');
    relay().ahead += limits.answerAfterTokenTime - 60_000;
    await expectToGoOn(answer);
    relay().ahead += 60_000;
    expect(await answer.end).to.equal('complete');
    expect((await relay().use('notes', access_token)).status).to.equal(401);
    expect(endsInLog()).to.deep.equal(['token_end', 'token_end', 'token_end']);
    expect(await countOf('token_end')).to.equal(before + 3);
  });

  it('is an answer if it is a GET that neither asks for events nor gets them', async () => {
    const { access_token } = await relay().tokens();
    type = 'text/plain';
    const answer = await begin(access_token);
    const listening = await begin(access_token, 'GET', { Accept: 'application/json, text/event-stream' });
    relay().ahead += lifetime;
    expect(await listening.end).to.equal('broken off');
    await expectToGoOn(answer, 0);
    relay().ahead += limits.answerAfterTokenTime;
    expect(await answer.end).to.equal('broken off');
  });

  it('ends with its login, and is cut off if its end would look like the end of a body', async () => {
    const ended = await relay().tokens();
    const other = await relay().tokens();
    const listening = await begin(ended.access_token);
    type = 'application/json';
    const body = await begin(ended.access_token, 'POST');
    const stays = await begin(other.access_token);
    await relay().post('revoke', { client_id: 'app', token: ended.refresh_token });
    expect(await listening.end).to.equal('complete');
    expect(await body.end).to.equal('broken off');
    await expectToGoOn(stays);
    await eventually(async () => {
      expect(endsInLog()).to.deep.equal(['logout', 'logout']);
    });
    expect(relay().lines.some(({ level }) => level !== 30)).to.equal(false);
    stays.response.destroy();
  });

  it('ends with a reload that changes its resource, and goes on after any other', async () => {
    const { access_token } = await relay().tokens();
    const port = relay().upstreamPort;
    const row = (more: string) => ({
      notes: `{ url: ${urls.notes}, identity: [email, groups], ${more} }`,
    });
    const same = `upstream: http://127.0.0.1:${port}/mcp`;
    const first = await begin(access_token, 'POST');
    await relay().reload(relay().settings({ ...row(`${same}, lifetime: 5`), files: '' }));
    await expectToGoOn(first);
    let last = first;
    for (const more of [
      `${same}, allow: { users: ['42'] }`,
      `upstream: http://127.0.0.1:${port}/mcp/other`,
      `upstream: http://127.0.0.1:${port}/mcp/other, token: provider`,
    ]) {
      await relay().reload(relay().settings(row(more)));
      expect(await last.end).to.equal('complete');
      last = await begin((await relay().tokens()).access_token);
    }
    await relay().reload(relay().settings({ notes: '' }));
    expect(await last.end).to.equal('complete');
    await relay().reload(relay().settings());
    expect(new Set(endsInLog())).to.deep.equal(new Set(['reload']));
  });

  it('ends with the key that opened its token, also an answer, and goes on while the file has the key', async () => {
    const newer = 'a new line of the key file, with 32 characters';
    const { access_token } = await relay().tokens();
    const listening = await begin(access_token);
    const answer = await begin(access_token, 'POST');
    await relay().reload({ ...relay().settings(), files: { './key': `${newer}\n${keyLine}` } });
    await expectToGoOn(listening, open.length - 2);
    const renewed = await begin((await relay().tokens()).access_token);
    await relay().reload({ ...relay().settings(), files: { './key': newer } });
    expect([await listening.end, await answer.end]).to.deep.equal(['complete', 'complete']);
    await expectToGoOn(renewed);
    expect((await relay().use('notes', access_token)).status).to.equal(401);
    await relay().reload(relay().settings());
    expect(await renewed.end).to.equal('complete');
    expect(new Set(endsInLog())).to.deep.equal(new Set(['reload']));
  });

  it('of a machine ends with its secret, with its entry, and with its token', async () => {
    const line = 'a secret of thirty-two characters or more';
    const entry = '  ci: { kind: machine, secret-file: ./ci, resources: [notes, files] }\n';
    const having = (text: string, more = entry) => {
      const given = relay().settings();
      return { ...given, frontEnds: given.frontEnds + more, files: { './ci': text } };
    };
    const begun = async (client_secret = line) => {
      const form = { grant_type: 'client_credentials', client_id: 'ci', client_secret, resource: urls.notes };
      return await begin(`${jsonOf(await relay().post('token', form))['access_token']}`);
    };
    await relay().reload(having(line));
    const first = await begun();
    await relay().reload(having(`${line} anew\n${line}`));
    await expectToGoOn(first);
    const second = await begun(`${line} anew`);
    await relay().reload(having(`${line} anew`));
    expect(await first.end).to.equal('complete');
    await expectToGoOn(second);
    const beginning = await begun(`${line} anew`);
    await relay().reload(having(line, ''));
    expect([await second.end, await beginning.end]).to.deep.equal(['complete', 'complete']);
    expect(new Set(endsInLog())).to.deep.equal(new Set(['reload']));
    await relay().reload(having(line));
    const last = await begun();
    relay().ahead = lifetime;
    expect(await last.end).to.equal('complete');
    expect(endsInLog().at(-1)).to.equal('token_end');
    await relay().reload(relay().settings());
  });

  for (const [whose, allowing] of [
    ['the resource', (users: string) => ({ notes: `{ url: ${urls.notes}, ${upstreamRow()}, allow: ${users} }` })],
    ['the front end', (users: string) => ({ app: `allow: ${users}` })],
    ['the registration', (users: string) => ({ provider: `allow: ${users}` })],
  ] as const) {
    it(`ends if who may use it changes, by the allow of ${whose}, and its token opens nothing until a refresh`, async () => {
      const with42 = relay().allowing(allowing("{ users: ['42'] }"));
      await relay().reload(with42);
      const { access_token, refresh_token } = await relay().tokens();
      const listening = await begin(access_token);
      await relay().reload(with42);
      await expectToGoOn(listening);
      // After wider rules, a refresh is enough.
      await relay().reload(relay().allowing(allowing("{ users: ['43', '42'] }")));
      expect(await listening.end).to.equal('complete');
      const refused = await relay().use('notes', access_token);
      expect([refused.status, refused.headers['www-authenticate']])
        .to.have.property('1')
        .that.includes('error="invalid_token"');
      expect(relay().lines.at(-1)).to.include({ outcome: 'resource_token_expired' });
      const renewed = await relay().refresh('app', refresh_token);
      const next = jsonOf(renewed) as { access_token: string; refresh_token: string };
      const again = await begin(next.access_token);
      // In another order, they are the same.
      await relay().reload(relay().allowing(allowing("{ users: ['42', '43'] }")));
      await expectToGoOn(again);
      // After narrower rules, the person is refused.
      await relay().reload(relay().allowing(allowing("{ users: ['43'] }")));
      expect(await again.end).to.equal('complete');
      expect((await relay().use('notes', next.access_token)).status).to.equal(401);
      expect((await relay().refresh('app', next.refresh_token)).status).to.equal(400);
      await relay().reload(relay().settings());
    });
  }

  it('ends if another field of the user record says who a person is, and its token opens nothing until a refresh', async () => {
    const before = relay().allowing({ provider: 'user-id: preferred_username' });
    await relay().reload(before);
    const { access_token, refresh_token } = await relay().tokens();
    const listening = await begin(access_token);
    await relay().reload(before);
    await expectToGoOn(listening);
    await relay().reload(relay().allowing({ provider: 'user-id: sub' }));
    expect(await listening.end).to.equal('complete');
    expect((await relay().use('notes', access_token)).status).to.equal(401);
    expect(relay().lines.at(-1)).to.include({ outcome: 'resource_token_expired' });
    const { access_token: next } = jsonOf(await relay().refresh('app', refresh_token)) as { access_token: string };
    const again = await begin(next);
    await relay().reload(relay().settings());
    expect(await again.end).to.equal('complete');
  });

  it('does not begin if a reload changes its resource while the relay waits for its body', async () => {
    const { access_token } = await relay().tokens();
    relay().requests.length = 0;
    const connection = await RawConnection.open(relay().port);
    connection.say(
      `POST /mcp HTTP/1.1\r\nHost: notes.example.com\r\nAuthorization: Bearer ${access_token}\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n`,
    );
    await connection.hear('100 Continue');
    await relay().reload(relay().settings({ notes: '' }));
    await connection.say('a').hear('HTTP/1.1 503');
    connection.close();
    expect(relay().requests).to.be.empty;
    expect(endsInLog()).to.deep.equal(['reload']);
    await relay().reload(relay().settings());
  });

  for (const [what, body] of [
    ['with a length', 'Content-Length: 20000\r\n\r\na'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n'],
    ['whose trailers never come', 'Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: '],
    ['after 100 Continue', 'Content-Length: 20000\r\nExpect: 100-continue\r\n\r\n'],
  ] as const) {
    it(`does not begin for an upload ${what} that is announced and never sent, which gets 408`, async () => {
      const { access_token } = await relay().tokens();
      relay().answer = (request) => void request.resume();
      mock.timers.enable({ apis: ['setInterval'] });
      const connection = await RawConnection.open(relay().port);
      connection.say(
        `POST /mcp HTTP/1.1\r\nHost: notes.example.com\r\nAuthorization: Bearer ${access_token}\r\n${body}`,
      );
      await eventually(async () => {
        mock.timers.tick(10_000);
        expect(connection.heard).to.include('HTTP/1.1 408');
      });
      await connection.closed;
      mock.timers.reset();
      expect(relay().lines.at(-1)).to.include({ status: 408, outcome: 'request_timeout', ended: 'limit' });
    });
  }

  it('is one of 32 of its login, and a further stream gets 503, ends no other stream, and the log says who has the most', async () => {
    const mine = await relay().tokens();
    const other = await relay().tokens();
    const streams = await Promise.all(Array.from({ length: limits.streamsOfLogin }, () => begin(mine.access_token)));
    const refused = await relay().use('notes', mine.access_token);
    expect(refused.status).to.equal(503);
    expect(refused.headers).to.have.property('retry-after');
    expect(relay().lines.at(-1)).to.include({ outcome: 'streams_full', ended: 'limit' });
    const line = relay().lines.find(({ msg }) => `${msg}`.startsWith('no place at the gateway'));
    expect(line).to.include({ people: 1 }).and.not.to.have.property('person');
    expect(line?.['most']).to.be.least(limits.streamsOfLogin);
    await expectToGoOn(await begin(other.access_token));
    for (const { response } of streams) {
      expect(response.destroyed).to.equal(false);
      response.destroy();
    }
  });

  it('is one of 128 of its person, who may have many logins, and other people find a place', async () => {
    // Nobody who has streams of the tests before.
    relay().provider.knows(json({ ...ada, sub: '44' }));
    const logins = [];
    for (let index = 0; index <= limits.streamsOfPerson / limits.streamsOfLogin; index += 1) {
      logins.push(await relay().tokens());
    }
    const last = logins.pop();
    const all = logins.map(async ({ access_token }) => {
      const many = Array.from({ length: limits.streamsOfLogin }, () => begin(access_token));
      return await Promise.all(many);
    });
    const streams = (await Promise.all(all)).flat();
    expect((await relay().use('notes', last?.access_token ?? '')).status).to.equal(503);
    expect((await relay().use('files', (await relay().tokens('files')).access_token)).status).to.equal(503);
    relay().provider.knows(json({ ...ada, sub: '43' }));
    await expectToGoOn(await begin((await relay().tokens()).access_token));
    for (const { response } of streams) response.destroy();
  });
});

describe('the room of the gateway', () => {
  const holder = { pace: () => 0, evict: () => expect.fail('it was evicted') };

  it('has a share for each login and each known address, and for all together', () => {
    const room = createRoom(limits.streams, 'resource');
    const take = (session: string, address?: string) => room.takeForTransfer({ ...holder, session, address });
    const fill = (most: number, address?: string) =>
      Array.from({ length: most }, (_, index) => take(`${address} ${index}`, address));
    const leaves = fill(limits.streamsOfAddress, 'x');
    expect(() => take('new', 'x')).to.throw(RelayError, 'overloaded');
    leaves[0]?.();
    take('new', 'x');
    fill(limits.streams - limits.streamsOfAddress);
    expect(() => take('newest')).to.throw(RelayError, 'overloaded');
    expect(room.inFlight()).to.equal(limits.streams);
  });
});

describe('the time of the gateway', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval'] }));
  afterEach(() => mock.timers.reset());

  /** A stream whose client has always something to do. */
  function wait(turn: ClientsTurn) {
    const given: string[] = [];
    const patience = startGatewayTimeout(
      limits.streamHeadTime,
      () => turn,
      (code) => given.push(code),
    );
    return { ...patience, given };
  }
  /** Lets bytes pass every ten seconds. */
  function pass({ renew }: ReturnType<typeof wait>, bytes: number, seconds: number): void {
    for (let second = 0; second < seconds; second += 10) {
      renew(bytes);
      mock.timers.tick(10_000);
    }
  }

  it('is ten minutes until the head of an answer, and unlimited from then on', () => {
    const silent = wait(undefined);
    const answered = wait(undefined);
    mock.timers.tick(limits.streamHeadTime - 1);
    answered.onAnswered();
    answered.renew();
    expect(silent.given).to.be.empty;
    mock.timers.tick(10 * limits.streamHeadTime);
    expect([silent.given, answered.given]).to.deep.equal([['provider_timeout'], []]);
    answered.stop();
  });

  it('is about a minute for an upload of less than 64 KiB a minute, until the head of the answer', () => {
    const nothing = wait('send');
    const drip = wait('send');
    const slow = wait('send');
    const answered = wait('send');
    answered.onAnswered();
    for (let minute = 0; minute < 2; minute += 1) {
      for (let turn = 0; turn < 6; turn += 1) {
        drip.renew(1000);
        slow.renew(limits.apiPace / 6 + 1);
        mock.timers.tick(10_000);
      }
    }
    expect(nothing.given).to.deep.equal(['request_timeout']);
    expect(drip.given).to.deep.equal(['request_timeout']);
    expect([...slow.given, ...answered.given]).to.be.empty;
    for (const { stop } of [slow, answered]) stop();
  });

  it('is about a minute for a client that reads an answer as slowly, even byte by byte', () => {
    const drip = wait('read');
    const slow = wait('read');
    const waiting = wait(undefined);
    for (const { onAnswered } of [drip, slow, waiting]) onAnswered();
    pass(slow, 2 * limits.apiPace, 120);
    expect(slow.given).to.be.empty;
    pass(drip, 1, 120);
    expect(drip.given).to.deep.equal(['request_timeout']);
    expect(waiting.given).to.be.empty;
    waiting.stop();
  });

  it('is five seconds at a stop, during which listening streams end one after another', async () => {
    const server = await serve((_, response) => response.writeHead(200).flushHeaders());
    const streams = createStreams();
    const ended: string[] = [];
    const opened = { login: 'a', frontEnd: 'a', audience: 'a', sub: 'a', iat: 0, exp: 0 };
    const door = {
      key: '',
      issuer: '',
      remembers: () => true,
      read: () => opened,
      whyClosedTo: async () => undefined,
      open: async () => opened,
      holderName: () => 'a',
      readIfGrantedNow: () => opened,
    };
    const pass = async (name: string, isListening: boolean) => {
      const stream: Stream = {
        door: { ...door, resource: { name } as never },
        opened,
        isListening,
        readAgainAt: () => opened,
        end: (why) => ended.push(`${name} ${why}`),
      };
      const request = {
        method: 'GET',
        url: `http://127.0.0.1:${server.port}/`,
        headers: {},
        address: undefined,
        hasOthers: false,
        client: new PassThrough(),
      } as const;
      await streams.pass(stream, request, () => {}).response;
      return stream;
    };
    const passed = new Map<string, Stream>();
    for (const [name, isListening] of [
      ['a', true],
      ['answer', false],
      ['b', true],
    ] as const) {
      passed.set(name, await pass(name, isListening));
    }
    expect(streams.counts()).to.deep.equal(
      new Map([
        ['a', 1],
        ['answer', 1],
        ['b', 1],
      ]),
    );
    streams.stop();
    expect(streams.isStopping()).to.equal(true);
    mock.timers.tick(1);
    expect(ended).to.deep.equal(['a stop']);
    mock.timers.tick(limits.stopListeningTime);
    expect(ended).to.deep.equal(['a stop', 'b stop']);
    // Its server has answered with events only now.
    streams.countAsListening(passed.get('answer') ?? expect.fail());
    expect(ended).to.deep.equal(['a stop', 'b stop', 'answer stop']);
    streams.close();
    await server.close();
  });
});
