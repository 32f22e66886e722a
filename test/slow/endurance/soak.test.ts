// Many logins and lookups, one in twenty with a fault of the provider, while the relay's memory,
// descriptors and event loop are watched. `scripts/long soak` makes 1,100,000. Linux only: it reads /proc.
import { readdirSync } from 'node:fs';
import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { FakeBrowser } from '../../harness/browser/fake-browser.ts';
import { manyAtOnce } from '../../harness/client/many-at-once.ts';
import { type Answer, request } from '../../harness/client/request.ts';
import {
  answer,
  hangUp,
  html,
  json,
  type Reply,
  reset,
  silence,
  truncated,
} from '../../harness/provider/provider-behaviours.ts';
import { userRecord } from '../../harness/provider/strict-provider.ts';
import { frontendOrigin, relayUnderTest, userPath } from '../../harness/relay/relay-under-test.ts';
import { needs } from '../../harness/system/needs.ts';
import { memoryOf } from '../../harness/system/processes.ts';

const lookups = Number(process.env['LOOKUPS'] ?? 2000);
const logins = Number(process.env['LOGINS'] ?? 200);
const total = lookups + logins;
const isShort = total < 500_000;
const connections = 64;
const samples = 200;
/** The part of the run after which memory must not grow. */
const warmUp = 0.25;
const allowedSlope = 1;

/** The faults of the provider, each with the relay's status for a lookup and for a callback. */
const faults: Readonly<Record<string, [reply: Reply, lookup: number, callback: number]>> = {
  reset: [reset, 502, 502],
  hangUp: [hangUp, 502, 502],
  truncated: [truncated(200, '{"login":"ada","access_token":"a'), 502, 502],
  garbled: [html(200, 'Sorry'), 502, 400],
  serverError: [json({ login: 'ada', access_token: 'a' }, 500), 401, 400],
  tooLong: [answer(200, ' '.repeat(1_100_000)), 502, 502],
  silent: [silence, 504, 504],
};
const names = Object.keys(faults);
const every = 20;

/** The fault for request `index`. One request in 20 meets a fault, and the faults take turns. */
function faultOf(index: number): string {
  if (index % every !== every - 1) return 'none';
  return names[Math.floor(index / every) % names.length] ?? 'none';
}

/** Measurements of the relay at one moment of a run. Memory is in MiB, the delay of the event loop in milliseconds. */
type Sample = Readonly<Record<'requests' | 'residentMemory' | 'eventLoopDelay', number>>;

const { describe } = needs('Linux', process.platform === 'linux');

describe('a relay under load for long', () => {
  const underTest = relayUnderTest({ 'provider-timeout': '2', 'metrics-port': '0' });
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const faultOfCode = new Map<string, string>();
  const failures: string[] = [];
  const counts = { lookups: 0, logins: 0, injected: 0, interrupted: 0 };

  // If the machine pauses, deadlines pass. Failures during a pause are not the relay's fault.
  const pause = 1000;
  const aftermath = 20_000;
  let lastTick = performance.now();
  let pausedUntil = 0;
  const clock = setInterval(() => {
    const now = performance.now();
    if (now - lastTick > pause) pausedUntil = now + aftermath;
    lastTick = now;
  }, 100);
  after(() => clearInterval(clock));

  before('the provider has faults', async () => {
    const { provider, process: relay } = underTest();
    await underTest().metrics();
    relay.passOn();
    provider.forget = () => {};
    provider.onUser = (response, call) => {
      const [reply] = faults[call.credential.split('.')[1] ?? ''] ?? [];
      (reply ?? userRecord)(response, call);
    };
    provider.onToken = (response, call) => {
      const [reply] = faults[faultOfCode.get(call.credential) ?? ''] ?? [];
      (reply ?? provider.issueToken)(response, call);
    };
  });

  async function lookUp(index: number): Promise<void> {
    const fault = faultOf(index);
    const token = `t${index}.${fault}`;
    const headers: [string, string][] = [['Authorization', `Bearer ${token}`]];
    const sending = { path: userPath, headers, agent, repeatable: true };
    const reply = await request(underTest().port, sending);
    counts.lookups += 1;
    const isOwn = () => JSON.parse(`${reply.body}`).login === `owner-of-${token}`;
    judge('lookup', fault, reply, reply.status !== 200 || isOwn());
  }

  async function logIn(index: number): Promise<void> {
    const fault = faultOf(index);
    const browser = new FakeBrowser(underTest, { agent });
    const login = await browser.start('', { repeatable: true });
    faultOfCode.set(login.code, fault);
    const reply = await browser.finish(login, { repeatable: true });
    faultOfCode.delete(login.code);
    counts.logins += 1;
    const target = `${frontendOrigin}/?access_token=${underTest().provider.tokenFor(login.code)}`;
    judge('callback', fault, reply, reply.status !== 307 || reply.headers.location === target);
  }

  function judge(endpoint: 'lookup' | 'callback', fault: string, reply: Answer, own: boolean): void {
    if (fault !== 'none') counts.injected += 1;
    const [, lookup, callback] = faults[fault] ?? [undefined, 200, 307];
    if (reply.status === (endpoint === 'lookup' ? lookup : callback) && own) return;
    const late = reply.status === 504 || reply.status === 408;
    fail(late, `${endpoint} with fault ${fault}: ${reply.status}, own: ${own}`);
  }

  function fail(late: boolean, reason: string): void {
    if (late && performance.now() < pausedUntil) counts.interrupted += 1;
    else failures.push(reason);
  }

  const descriptors = () => readdirSync(`/proc/${underTest().process.pid}/fd`).length;

  async function sample(requests: number): Promise<Sample> {
    const relay = underTest();
    const lag = /^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(await relay.metrics());
    return {
      requests,
      residentMemory: memoryOf(relay.process.pid),
      eventLoopDelay: Number(lag?.[1]) * 1000,
    };
  }

  it('fails only as its provider does, and grows neither in memory nor in descriptors', async function () {
    this.timeout(300_000 + total * 5);
    const taken: Sample[] = [];
    const descriptorsBefore = descriptors();
    let done = 0;
    await manyAtOnce(total, connections, async (index) => {
      const isLogin = Math.floor(((index + 1) * logins) / total) > Math.floor((index * logins) / total);
      await (isLogin ? logIn(index) : lookUp(index)).catch(({ message }) => fail(true, message));
      done += 1;
      if (done % Math.ceil(total / samples) !== 0) return;
      taken.push(await sample(done));
      underTest().provider.calls.length = 0;
    });
    agent.destroy();
    // Idle connections to the provider are kept for a minute.
    if (isShort) for (const socket of underTest().provider.openSockets) socket.destroy();
    for (let waited = 0; waited < 100 && descriptors() > descriptorsBefore; waited += 1) {
      await wait(isShort ? 20 : 1000);
    }

    const after = taken.filter(({ requests }) => requests >= done * warmUp);
    const slope = memorySlope(after);
    if (process.env['LOOKUPS']) {
      const lines = [
        JSON.stringify(counts),
        `failures that were not injected: ${failures.length}`,
        `event-loop delay at most ${Math.max(...taken.map((one) => one.eventLoopDelay))} ms`,
        `slope of resident memory after warm-up: ${slope.toFixed(2)} MiB in 100,000 requests`,
        `descriptors: ${descriptorsBefore} at the start, ${descriptors()} at the end`,
      ];
      process.stdout.write(lines.map((line) => `    ${line}\n`).join(''));
    }
    expect(failures.slice(0, 20)).to.deep.equal([]);
    expect(counts).to.include({ lookups, logins, injected: Math.floor(total / every) });
    expect(descriptors()).to.be.at.most(descriptorsBefore);
    if (!isShort) expect(slope).to.be.lessThan(allowedSlope);
  });
});

/** The growth of memory in MiB per 100,000 requests, by least squares. */
function memorySlope(points: readonly Sample[]): number {
  const mean = (of: (point: Sample) => number) => points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const meanX = mean(({ requests }) => requests);
  const meanY = mean(({ residentMemory }) => residentMemory);
  const covariance = mean((point) => (point.requests - meanX) * (point.residentMemory - meanY));
  const variance = mean((point) => (point.requests - meanX) ** 2);
  return (covariance / variance) * 100_000;
}
