import { expect } from 'chai';
import { loadSteadily } from '../../harness/client/steady-load.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { BusySite, type Name, type Outcome } from './support/busy-site.ts';
import { type Listener, openEvents, openWebSocket } from './support/listeners.ts';

const requestsPerSecond = 20;
/** The WebSockets of each resource, and as many event streams. */
const counts: Readonly<Record<Name, number>> = { notes: 40, other: 40, wiki: 20 };
const names = Object.keys(counts) as readonly Name[];

const { describe } = needsPrograms('systemd-socket-activate');

describe('100 WebSockets and 100 event streams, under load', function () {
  this.timeout(120_000);
  let site: BusySite;
  /** The open connections, by resource. */
  let open: readonly { readonly name: Name; readonly kind: 'webSocket' | 'events'; readonly listener: Listener }[];
  let outcomes: Outcome[];
  let load: ReturnType<typeof loadSteadily>;
  let sent = 0;

  before('start a relay', async () => {
    site = await BusySite.start();
  });
  after('stop it', () => site.stop());

  beforeEach('open all', async () => {
    await openAll();
    outcomes = [];
    load = loadSteadily(requestsPerSecond, async () => {
      const index = sent;
      sent += 1;
      outcomes.push(await site.request(index));
    });
    await load.progress(requestsPerSecond);
  });
  afterEach('close all', async () => {
    await load.stop();
    for (const { listener } of open) listener.close();
    await eventually(async () => expect(site.application.sockets).to.equal(0));
  });

  async function openAll(): Promise<void> {
    const all = names.flatMap((name) =>
      Array.from({ length: counts[name] }, async (_, index) => {
        const place = site.place(name, index);
        const events = { ...place, path: `${place.path.replace(/\/$/, '')}/events` };
        return [
          { name, kind: 'webSocket' as const, listener: await openWebSocket(site.port, place) },
          { name, kind: 'events' as const, listener: await openEvents(site.port, events) },
        ];
      }),
    );
    open = (await Promise.all(all)).flat();
    await expectProgress(open);
  }

  /** Waits until each has got two numbers more. */
  async function expectProgress(those: typeof open): Promise<void> {
    const before = those.map(({ listener }) => listener.latest());
    await eventually(async () => {
      const late = those.filter(({ listener }, index) => listener.latest() < (before[index] ?? 0) + 2);
      expect(late).to.have.length(0);
    });
  }

  const at = (...of: readonly Name[]) => open.filter(({ name }) => of.includes(name));

  /** Waits until all of these have ended, and counts how. */
  async function endings(those: typeof open): Promise<Record<string, number>> {
    const all = await Promise.all(those.map(async ({ kind, listener }) => `${kind}: ${await listener.ended}`));
    return Object.fromEntries([...Map.groupBy(all, (one) => one)].map(([how, { length }]) => [how, length]));
  }

  /** Stops the load, and checks that nothing was sent or answered twice. @returns the requests without an answer of their own */
  async function lost(): Promise<readonly Outcome[]> {
    await load.progress(requestsPerSecond);
    expect((await load.stop()).lost).to.deep.equal([]);
    for (const { id, result } of outcomes) {
      const came = site.application.came.get(id) ?? 0;
      expect(came, id).to.be.oneOf(result === '200' ? [1] : [0, 1]);
    }
    return outcomes.filter(({ result }) => result !== '200' && result !== 'stale');
  }

  function report(what: string, those: readonly Outcome[]): void {
    const results = Map.groupBy(those, ({ result }) => result);
    const counted = [...results].map(([result, { length }]) => `${length} × ${result}`).join(', ');
    process.stdout.write(`    ${what}: of ${outcomes.length} requests, ${counted || 'all answered'}\n`);
  }

  it('go on after a reload that changes nothing', async () => {
    const { msg } = await site.reload();
    expect(msg).to.equal('reloaded: no file has changed');
    await expectProgress(open);
    expect(await lost()).to.deep.equal([]);
  });

  for (const [how, row, refusals] of [
    ['changes', "{ url: 'https://other.example.com/tool', upstream: 'http://127.0.0.1:1/moved' }", ['502', '503']],
    ['removes', '', ['503', '421']],
  ] as const) {
    it(`end where a reload ${how} their resource, and go on elsewhere`, async () => {
      const { msg } = await site.reload({ other: row });
      expect(msg).to.equal('reloaded: files have changed');
      expect(await endings(at('other'))).to.deep.equal({ 'webSocket: 1008 reload': 40, 'events: complete': 40 });
      await expectProgress(at('notes', 'wiki'));
      const refused = await lost();
      report(`a reload that ${how} a resource`, refused);
      for (const { name, result } of refused)
        expect([name, result]).to.be.deep.oneOf(refusals.map((one) => ['other', one]));
      await site.reload({});
    });
  }

  it('are told of a stop; no request is lost; the next process serves them', async () => {
    const restarted = site.restart('SIGTERM');
    expect(await endings(open)).to.deep.equal({ 'webSocket: 1001 stop': 100, 'events: complete': 100 });
    await restarted;
    const notAnswered = await lost();
    report('a stop', notAnswered);
    expect(notAnswered).to.deep.equal([]);
    await openAll();
  });

  it('break when the process is killed, together with the requests in flight, and nothing else is lost', async () => {
    const killed = performance.now();
    await site.restart('SIGKILL');
    expect(await endings(open)).to.deep.equal({ 'webSocket: broken': 100, 'events: broken': 100 });
    const notAnswered = await lost();
    report('a kill', notAnswered);
    expect(notAnswered.filter(({ begun }) => begun > killed)).to.deep.equal([]);
    await openAll();
  });
});
