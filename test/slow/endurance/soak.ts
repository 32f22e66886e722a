// Sends many logins and lookups, one in twenty with a fault of the provider, and measures the relay's
// memory, descriptors and event loop. Fails if anything else fails, if memory grows, or if descriptors
// are left. Needs Linux, because it reads /proc.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Answer } from '../../harness/client/request.ts';
import { expectedStatus, faultOf, withFaults } from './faults.ts';
import { plot, type Sample } from './plot.ts';
import { recordOf, startProvider, tokenFor } from './provider.ts';
import { frontEnd, Relay } from './relay.ts';
import { manyAtOnce, toldToEnd, Visitor } from './visitor.ts';

const { values } = parseArgs({
  options: {
    lookups: { type: 'string', default: '1000000' },
    logins: { type: 'string', default: '100000' },
    report: { type: 'string', default: 'dist/soak' },
  },
});
const lookups = Number(values.lookups);
const logins = Number(values.logins);
const total = lookups + logins;
const connections = 64;
const samples = 200;
/** The part of the run after which memory must not grow. */
const warmUp = 0.25;
const allowedSlope = 1;
const mebibyte = 1024 * 1024;

const provider = await startProvider(withFaults);
const relay = await Relay.start({ ...provider.flags, 'provider-timeout': '2' });
const visitor = new Visitor(relay.port, connections);
const descriptorsBefore = relay.descriptors();
const start = performance.now();

const failures: string[] = [];
const counts = { lookups: 0, logins: 0, injected: 0, interrupted: 0 };
const taken: Sample[] = [];
let done = 0;

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

await manyAtOnce(
  total,
  connections,
  async (index) => {
    const isLogin =
      Math.floor(((index + 1) * logins) / total) > Math.floor((index * logins) / total);
    await (isLogin ? logIn(index) : lookUp(index)).catch(brokenOff);
    done += 1;
    if (done % Math.ceil(total / samples) === 0) taken.push(await sample());
  },
  toldToEnd(),
);
// Memory settles slowly, and idle connections to the provider stay open for a minute.
const isShort = done < 500_000;
const seconds = (performance.now() - start) / 1000;
clearInterval(clock);
visitor.leave();
if (isShort) provider.stop();
const descriptorsAfter = await descriptorsAtRest();
await relay.stop();
provider.stop();
await report();

async function lookUp(index: number): Promise<void> {
  const fault = faultOf(index);
  const token = `t${index}.${fault}`;
  const reply = await visitor.get('/api/user', { Authorization: `Bearer ${token}` });
  counts.lookups += 1;
  judge('lookup', fault, reply, reply.status !== 200 || `${reply.body}` === recordOf(token));
}

async function logIn(index: number): Promise<void> {
  const fault = faultOf(index);
  const code = `c${index}.${fault}`;
  const started = await visitor.get('/auth/provider', { 'Sec-Fetch-Mode': 'navigate' });
  const state = new URL(started.headers.location ?? '').searchParams.get('state') ?? '';
  const cookies = (started.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]);
  const query = new URLSearchParams({ code, state });
  const reply = await visitor.get(`/auth/provider/callback?${query}`, {
    'Sec-Fetch-Mode': 'navigate',
    Cookie: cookies.join('; '),
  });
  counts.logins += 1;
  const { location = '' } = reply.headers;
  const target = `${frontEnd}/?access_token=${tokenFor(code)}`;
  judge('callback', fault, reply, reply.status !== 307 || location === target);
}

function judge(endpoint: 'lookup' | 'callback', fault: string, reply: Answer, own: boolean): void {
  if (fault !== 'none') counts.injected += 1;
  const expected = expectedStatus(endpoint, fault);
  if (reply.status === expected && own) return;
  const late = reply.status === 504 || reply.status === 408;
  fail(late, `${endpoint} with fault ${fault}: ${reply.status}, own: ${own}`);
}

/** A connection that ended without an answer. */
function brokenOff(error: Error): void {
  fail(true, error.message);
}

function fail(late: boolean, reason: string): void {
  if (late && performance.now() < pausedUntil) counts.interrupted += 1;
  else failures.push(reason);
}

async function sample(): Promise<Sample> {
  return {
    requests: done,
    residentMemory: relay.residentMemory() / mebibyte,
    descriptors: relay.descriptors(),
    eventLoopDelay: await relay.eventLoopDelay(),
  };
}

async function descriptorsAtRest(): Promise<number> {
  for (let waited = 0; waited < 100 && relay.descriptors() > descriptorsBefore; waited += 1) {
    await wait(isShort ? 20 : 1000);
  }
  return relay.descriptors();
}

/** The growth of memory in MiB per 100,000 requests, by least squares. */
function memorySlope(points: readonly Sample[]): number {
  const mean = (of: (point: Sample) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const meanX = mean(({ requests }) => requests);
  const meanY = mean(({ residentMemory }) => residentMemory);
  const covariance = mean((point) => (point.requests - meanX) * (point.residentMemory - meanY));
  const variance = mean((point) => (point.requests - meanX) ** 2);
  return (covariance / variance) * 100_000;
}

async function report(): Promise<void> {
  const after = taken.filter(({ requests }) => requests >= done * warmUp);
  const slope = memorySlope(after);
  const delays = after.map(({ eventLoopDelay }) => eventLoopDelay).toSorted((a, b) => a - b);
  const memory = after.map(({ residentMemory }) => residentMemory);
  const lines = [
    `lookups: ${counts.lookups}`,
    `logins: ${counts.logins}`,
    `seconds: ${seconds.toFixed(0)}`,
    `faults injected: ${counts.injected}`,
    `failures that were not injected: ${failures.length}`,
    `requests that met a deadline while the machine stood still: ${counts.interrupted}`,
    `resident memory after warm-up: ${Math.min(...memory).toFixed(1)} to ${Math.max(...memory).toFixed(1)} MiB`,
    `slope of resident memory after warm-up: ${slope.toFixed(2)} MiB in 100,000 requests`,
    `descriptors: ${descriptorsBefore} at the start, ${descriptorsAfter} at the end`,
    `event-loop delay, 99th percentile of each sample: median ${delays[delays.length >> 1]?.toFixed(1)} ms, highest ${delays.at(-1)?.toFixed(1)} ms`,
  ];
  await mkdir(values.report, { recursive: true });
  await writeFile(join(values.report, 'soak.txt'), `${lines.join('\n')}\n`);
  await writeFile(join(values.report, 'soak.json'), JSON.stringify(taken));
  await writeFile(join(values.report, 'soak.svg'), plot(taken));
  process.stdout.write(`${lines.join('\n')}\n`);
  for (const failure of failures.slice(0, 20)) process.stderr.write(`${failure}\n`);
  const grows = !isShort && slope >= allowedSlope;
  if (failures.length > 0 || descriptorsAfter > descriptorsBefore || grows) process.exitCode = 1;
}
