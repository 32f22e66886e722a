// Measures the relay, its peers and the lower limits, and prints tables. Linux only; run it on core 1. Usage: node
// bench/run.ts [--quick] [--write] [--workload <name>]... [--contender <name>]...
import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { eventually } from '../test/harness/system/eventually.ts';
import { type Contender, contenders } from './contenders.ts';
import { HttpConnection } from './http-connection.ts';
import { closedLoop, during, openLoop, percentile } from './load.ts';
import { PinnedProcess } from './pinned-process.ts';
import { registration } from './registration.ts';
import { type Figures, table, writeReport } from './report.ts';
import { type Target, type WorkloadName, workloads } from './workloads.ts';

// Only the server uses core 0. The load and the provider share core 1.
const rates = {
  'start-login': 500,
  'named-start': 500,
  'complete-login': 200,
  'oauth-login': 200,
  refresh: 150,
  'user-lookup': 500,
  'resource-check': 500,
  introspection: 500,
  gateway: 300,
  'gateway-1kB': 500,
  'gateway-1MiB': 30,
};
const { values } = parseArgs({
  options: {
    workload: { type: 'string', multiple: true, default: Object.keys(workloads) },
    contender: { type: 'string', multiple: true, default: contenders.map(({ name }) => name) },
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
// Seconds of a turn, and the number of turns. V8 needs the warm-up to compile large libraries, and the rest
// (in milliseconds) to release memory.
const pace = values.quick
  ? { warmUp: [0, 0], cost: [0.2, 1], latency: [0.1, 1], rest: 0 }
  : { warmUp: [2, 8], cost: [0.5, 9], latency: [1, 5], rest: 30_000 };

interface Running {
  readonly name: string;
  readonly process: PinnedProcess;
  readonly target: Target;
  /** Milliseconds until it listened. */
  readonly start: number;
  /** MiB at the start, after the load, and at rest. */
  readonly memory: number[];
  readonly cpu: number[];
  readonly rate: number[];
  readonly p50: number[];
  readonly p99: number[];
}

const provider = new PinnedProcess(1, [process.execPath, 'bench/provider.ts']);
const providerPort = await provider.port();
const measured: Figures[] = [];
for (const name of Object.keys(workloads) as WorkloadName[]) {
  if (!values.workload.includes(name)) continue;
  const running: Running[] = [];
  for (const contender of contenders) {
    if (!contender.workloads.includes(name) || !values.contender.includes(contender.name)) continue;
    if (existsSync(contender.needs)) running.push(await start(contender));
    else process.stderr.write(`${contender.name} is left out: there is no ${contender.needs}\n`);
  }
  await measure(name, running);
  process.stdout.write(`${tableOf(name, running)}\n\n`);
  measured.push(...running.map((one) => figuresOf(name, one, running)));
  for (const { process } of running) await process.stop();
}
await provider.stop();
if (values.write) writeReport(measured);

async function start(contender: Contender): Promise<Running> {
  const { name, protection, sessions, grantsTokens, opensBy } = contender;
  const command = contender.command(providerPort);
  const begun = performance.now();
  const process = new PinnedProcess(0, command, {
    PROVIDER_URL: `http://127.0.0.1:${providerPort}`,
    PROVIDER_CLIENT_SECRET: registration.clientSecret,
  });
  const port = await process.port();
  (await eventually(() => HttpConnection.open(port), 1)).close();
  return {
    name,
    process,
    target: { port, protection, sessions, providerPort, grantsTokens, opensBy },
    start: performance.now() - begun,
    memory: [process.memory()],
    cpu: [],
    rate: [],
    p50: [],
    p99: [],
  };
}

/** The contenders take turns, so that other load on the machine affects all of them equally. */
async function measure(name: WorkloadName, running: readonly Running[]): Promise<void> {
  const workload = workloads[name];
  await turns(pace.warmUp, running, async ({ target }, seconds) => {
    await closedLoop(workload, target, during(seconds));
  });
  await turns(pace.cost, running, async ({ target, process, cpu, rate }, seconds) => {
    const begun = performance.now();
    const before = process.cpuTime();
    const done = await closedLoop(workload, target, during(seconds));
    cpu.push((process.cpuTime() - before) / done);
    rate.push((done * 1000) / (performance.now() - begun));
  });
  await turns(pace.latency, running, async ({ target, p50, p99 }, seconds) => {
    const took = await openLoop(workload, target, rates[name], seconds);
    p50.push(percentile(took, 50));
    p99.push(percentile(took, 99));
  });
  for (const { process, memory } of running) memory.push(process.memory());
  await wait(pace.rest);
  for (const { process, memory } of running) memory.push(process.memory());
}

async function turns(
  [seconds = 0, count = 0]: readonly number[],
  running: readonly Running[],
  act: (one: Running, seconds: number) => Promise<void>,
): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) for (const one of running) await act(one, seconds);
}

function tableOf(name: WorkloadName, running: readonly Running[]): string {
  const at = `at ${rates[name]}/s, ms`;
  const head = [name, 'CPU, µs', '÷ node:http', 'per second', `p50 ${at}`, `p99 ${at}`, 'memory, MiB', 'start, ms'];
  const rows = running.map((one) => [
    one.name,
    spread(one.cpu, 0),
    relative(one, running),
    percentile(one.rate, 50).toFixed(0),
    spread(one.p50, 2),
    spread(one.p99, 2),
    one.memory.map((size) => size.toFixed(0)).join(' → '),
    one.start.toFixed(0),
  ]);
  return table(head, rows);
}

function figuresOf(workload: WorkloadName, one: Running, running: readonly Running[]): Figures {
  const { name, memory, start } = one;
  const cpu = percentile(one.cpu, 50);
  return { name, workload, cpu, relative: relative(one, running), memory, start };
}

/** CPU time, compared with node:http in the same turn. */
function relative({ cpu }: Running, running: readonly Running[]): string {
  const bare = running.find(({ name }) => name === 'node:http');
  if (bare === undefined) return '';
  const ratios = cpu.map((time, turn) => time / (bare.cpu[turn] ?? Number.NaN));
  return percentile(ratios, 50).toFixed(2);
}

function spread(numbers: readonly number[], digits: number): string {
  const median = percentile(numbers, 50).toFixed(digits);
  const least = percentile(numbers, 0).toFixed(digits);
  const most = percentile(numbers, 100).toFixed(digits);
  return `**${median}** (${least}–${most})`;
}
