// Completes logins at half of the relay's capacity for ten minutes, and watches its memory and its garbage collection.
// Fails if a collection stops the relay for more than 50 ms, or if more than one login in 10,000 fails: after a pause of
// the provider, more calls can be in flight than the relay allows. Linux only; run it on core 1.
// Usage: node bench/steady.ts [minutes]
import { contenders } from './contenders.ts';
import { closedLoop, during, openLoop, percentile } from './load.ts';
import { PinnedProcess } from './pinned-process.ts';
import { registration } from './registration.ts';
import { type Workload, workloads } from './workloads.ts';

const minutes = Number(process.argv[2] ?? 10);
const longestPause = 50;
const failures: unknown[] = [];
const workload: Workload = async (target) => {
  const { act, leave } = await workloads['complete-login'](target);
  return { act: () => act().catch((error: unknown) => void failures.push(error)), leave };
};
const pauses: number[] = [];

const provider = new PinnedProcess(1, [process.execPath, 'bench/provider.ts']);
const providerPort = await provider.port();
const [runtime = '', ...command] = contenders[0]?.command(providerPort) ?? [];
const relay = new PinnedProcess(
  0,
  [runtime, '--trace-gc', ...command],
  { PROVIDER_CLIENT_SECRET: registration.clientSecret },
  notePauses,
);
const target = {
  port: await relay.port(),
  protection: true,
  sessions: false,
  providerPort,
  grantsTokens: false,
  opensBy: 'token',
} as const;

await closedLoop(workload, target, during(10));
const capacity = (await closedLoop(workload, target, during(10))) / 10;
pauses.length = 0;
const took: number[] = [];
const memory = [relay.memory()];
for (let minute = 0; minute < minutes; minute += 1) {
  took.push(...(await openLoop(workload, target, capacity / 2, 60)));
  memory.push(relay.memory());
}
await relay.stop();
await provider.stop();

const share = (numbers: readonly number[], percent: number) => percentile(numbers, percent).toFixed(1);
process.stdout.write(`${took.length} logins in ${minutes} minutes, ${(capacity / 2).toFixed(0)} per second, half of the capacity
${failures.length} failed ${failures[0] ?? ''}
login, ms: p50 ${share(took, 50)}, p99 ${share(took, 99)}, longest ${share(took, 100)}
${pauses.length} collections, ms: p50 ${share(pauses, 50)}, p99 ${share(pauses, 99)}, longest ${share(pauses, 100)}
memory at each minute, MiB: ${memory.map((size) => size.toFixed(0)).join(' ')}
`);
const isBad = percentile(pauses, 100) > longestPause || failures.length > took.length / 10_000;
process.exitCode = isBad ? 1 : 0;

/** Takes the pauses from what V8 writes: `… MB, 1.05 / 0.00 ms`. */
function notePauses(output: string): void {
  for (const [, pause] of output.matchAll(/ MB, (?:pooled[^,]*, )?([\d.]+) \/ [\d.]+ ms/g)) {
    pauses.push(Number(pause));
  }
}
