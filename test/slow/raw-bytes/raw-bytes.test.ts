import { expect } from 'chai';
import { doorRelay } from '../../browsers/support/door-relay.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { switching } from '../../resources/support/websocket-relay.ts';
import { type RawAnswer, rawAnswers, unasked } from './support/answers.ts';
import { type Door, type Heard, webSocketLines } from './support/exchanges.ts';
import { bytesOf, type RawFrames, rawFrames } from './support/frames.ts';
import { fronts, startFront } from './support/fronts.ts';
import { type RawRequest, rawRequests } from './support/requests.ts';
import { Rig } from './support/rig.ts';

/** `scripts/long raw-bytes` names all proxies, and prints a table. */
const named = process.env['FRONTS'];
const chosen = (named ?? 'nginx haproxy caddy').split(' ');
/** Milliseconds that a proxy may wait for the rest of what it takes for a request, until its client leaves. */
const patience = 500;
/** The same for the relay itself, which knows the end of each of these requests. */
const longPatience = 60_000;

const asked: readonly (readonly [how: string, method: string, headers: readonly string[]])[] = [
  ['GET', 'GET', []],
  ['HEAD', 'HEAD', []],
  ['POST', 'POST', ['Content-Length: 0']],
  ['a WebSocket', 'GET', webSocketLines],
];

const results = new Map<string, Map<string, string>>();

function note(row: string, column: string, cell: string): void {
  const cells = results.get(row) ?? new Map<string, string>();
  results.set(row, cells.set(column, cell));
}

const statusOf = ({ line }: { readonly line: string }) => line.split(' ')[1] ?? '';
const statusesOf = ({ responses }: Heard) => responses.map(statusOf).join() || 'none';

describe('raw bytes', function () {
  this.timeout(300_000);
  const relay = doorRelay();
  const rig = new Rig(relay);
  before('start the relay and the server', () => rig.start());
  after('stop them, and print the table', async () => {
    await rig.stop();
    if (named === undefined) return;
    const columns = ['no proxy', ...chosen];
    const lines = [...results].map(([row, cells]) => [row, ...columns.map((one) => cells.get(one) ?? '')].join(' | '));
    process.stdout.write(`${[['case', ...columns].join(' | '), ...lines].join('\n')}\n`);
  });

  /** Sends what a client may send, and checks what the server has got of it. */
  async function attack(column: string, port: number, door: Door, one: RawRequest, wait: number): Promise<Heard> {
    rig.upstream.forget();
    const heard = await rig.exchange(port, one.bytes(door), one.method, wait);
    note(`${door.host}: ${one.name}`, column, `${statusesOf(heard)}${rig.got.length > 0 ? ' passed' : ''}`);
    rig.expectOneAtMost(door);
    if (one.name === 'an ordinary request') expect(rig.got).to.have.length(1);
    rig.expectPlain();
    return heard;
  }

  /** Sends what a client of HTTP/2 may send to a proxy, and checks what the server has got of it. */
  async function frame(column: string, port: number, door: Door, one: RawFrames): Promise<void> {
    rig.upstream.forget();
    const ending = await rig.exchangeFrames(port, bytesOf(one, door), patience);
    note(`${door.host}: HTTP/2, ${one.name}`, column, `${ending ?? 'none'}${rig.got.length > 0 ? ' passed' : ''}`);
    rig.expectOneAtMost(door);
    if (one.name === 'an ordinary request') expect(rig.got).to.have.length(1);
    rig.expectPlain();
  }

  /** Answers what a server may answer, and checks what the client gets of it. */
  async function mislead(column: string, port: number, door: Door, one: RawAnswer, how: (typeof asked)[number]) {
    rig.upstream.forget();
    rig.upstream.answer = ({ target }) => (target.includes('/honest-') ? undefined : one);
    const [name, method, headers] = how;
    const heard = await rig.ask(port, door, method, headers);
    note(`${door.host}: ${name}, answered by ${one.name}`, column, statusesOf(heard));
    const { responses, rest } = heard;
    expect(responses, 'answers').to.have.length.below(2);
    const [response] = responses;
    const isOpen = response !== undefined && statusOf(response) === '101';
    // The bytes after a 101 belong to the WebSocket of the client that opened it.
    if (isOpen) expect([name, one.name]).to.deep.equal(['a WebSocket', '101 to WebSocket']);
    else expect(JSON.stringify([responses, rest])).not.to.include(unasked);
    if (response !== undefined && !isOpen) expect(rest).to.equal('');
    return heard;
  }

  /** Sends frames before the server has switched, and after it has refused to. */
  async function hurry(column: string, port: number, wait: number): Promise<void> {
    const frames = 'early frames';
    for (const door of doors) {
      for (const [name, bytes] of [
        ['switched', switching()],
        ['refused', 'HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno'],
      ] as const) {
        rig.upstream.forget();
        rig.upstream.answer = ({ target }) => (target.includes('/honest-') ? undefined : { bytes, closes: false });
        const heard = await rig.openEarly(port, rig.doors[door], frames, wait);
        note(`${rig.doors[door].host}: early frames, ${name}`, column, statusesOf(heard));
        expect(rig.upstream.violations.splice(0)).to.deep.equal([]);
        expect(rig.upstream.afterSwitch).to.be.oneOf(statusesOf(heard) === '101' ? ['', frames] : ['']);
      }
    }
  }

  const doors = ['token', 'cookie'] as const;

  /** Runs each case, and names the failing cases. */
  async function each<Case extends { readonly name: string }>(
    cases: readonly Case[],
    check: (one: Case, door: Door) => Promise<void>,
  ): Promise<void> {
    const failed: string[] = [];
    for (const door of doors) {
      for (const one of cases) {
        await check(one, rig.doors[door]).catch((error) => failed.push(`${door}, ${one.name}: ${error}`));
      }
    }
    // Nobody waits for a place that such a request has taken.
    await eventually(async () => expect(rig.inFlight).to.equal(0));
    expect(failed).to.deep.equal([]);
  }

  describe('without a proxy', () => {
    it('are one request or none', async () => {
      await each(rawRequests, async (one, door) => {
        const { responses } = await attack('no proxy', rig.port, door, one, longPatience);
        expect(responses).not.to.deep.equal([]);
        const hasPassed = rig.got.length > 0;
        if (one.isRefused !== undefined) expect(hasPassed, 'passed').to.equal(!one.isRefused);
      });
    });

    it('are one answer, whole or not', async () => {
      for (const how of asked) {
        await each(rawAnswers, async (one, door) => {
          const { responses, hasClosed } = await mislead('no proxy', rig.port, door, one, how);
          const [response] = responses;
          const status = response === undefined ? 'broken' : statusOf(response);
          // The body of an answer to HEAD does not matter.
          const becomes = one.becomes === 'broken' && how[1] === 'HEAD' ? 'whole' : one.becomes;
          if (becomes === 'broken') expect([status, hasClosed]).to.deep.equal(['broken', true]);
          else if (becomes === 'whole') expect(status).not.to.be.oneOf(['broken', '502']);
          // The bytes of a WebSocket after its 101 are not an answer.
          else if (status !== '101') expect(status).to.equal('502');
        });
      }
    });

    it('are no frames before the 101', async () => {
      await hurry('no proxy', rig.port, longPatience);
      expect(rig.upstream.afterSwitch).to.equal('');
    });
  });

  for (const column of chosen) {
    const front = fronts[column];
    if (front === undefined) throw new Error(`there is no proxy ${column}`);
    const { describe } = needsPrograms(front.program);
    describe(`through ${column}`, () => {
      let running: Awaited<ReturnType<typeof startFront>>;
      before('start it', async () => {
        running = await startFront(front, rig.port);
      });
      after('stop it', () => running.stop());

      it('are one request or none', async () => {
        await each(rawRequests, async (one, door) => {
          await attack(column, running.port, door, one, patience);
        });
      });

      it('are one answer, whole or not', async () => {
        for (const how of named === undefined ? asked.slice(0, 1) : asked) {
          await each(rawAnswers, async (one, door) => void (await mislead(column, running.port, door, one, how)));
        }
      });

      it('are no frames before the 101', async () => {
        await hurry(column, running.port, patience);
      });

      if (front.http2 === undefined) return;
      it('are one request or none, by HTTP/2', async () => {
        const byHttp2 = front.http2 === 'at its own port' ? await startFront(front, rig.port, true) : running;
        await each(rawFrames, async (one, door) => await frame(column, byHttp2.port, door, one));
        if (byHttp2 !== running) await byHttp2.stop();
      });
    });
  }
});
