// Attacks a relay with hostile requests: node fuzz/requests.ts --requests 1000000 --seed 1
//
// The seed and the number of a connection determine the requests. Repeat them with --first and --requests 1.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { attack } from './hostile/attack.ts';
import { openBattlefield } from './hostile/battlefield.ts';
import { startHonestClient } from './hostile/honest.ts';
import { startObligingProvider } from './hostile/obliging-provider.ts';

// In MiB. A relay remembers proofs and redeemed codes for a minute or two.
const mostMemory = 512;

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    connections: { type: 'string', default: '4' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    first: { type: 'string', default: '0' },
    /** Seconds of the honest client without an attack. */
    idle: { type: 'string', default: '20' },
  },
});

const provider = await startObligingProvider();
const field = await openBattlefield(provider);
const honest = startHonestClient(field.relay.port);
await new Promise((resolve) => setTimeout(resolve, Number(values.idle) * 500));
await honest.observe();
await new Promise((resolve) => setTimeout(resolve, Number(values.idle) * 1000));
const idle = await honest.observe();
const start = performance.now();
const report = await attack({
  port: field.relay.port,
  targets: field.targets,
  material: field.material,
  seed: Number(values.seed),
  requests: Number(values.requests),
  connections: Number(values.connections),
  first: Number(values.first),
});
const seconds = (performance.now() - start) / 1000;
const attacked = await honest.observe();
const memory = memoryOf(field.relay.pid);
await honest.stop();
await field.close();

const faults = [
  ...report.faults,
  ...provider.faults,
  ...field.relay.faults,
  ...idle.refused,
  ...attacked.refused,
];
for (const call of ['callback', 'redemption', 'refresh', 'revocation']) {
  if (!provider.calls.has(call)) faults.push(`no ${call} came as far as the provider`);
}
if (memory.peak > mostMemory) faults.push(`${memory.peak} MiB of memory`);
const counts = (map: ReadonlyMap<unknown, number>) =>
  [...map]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `  ${name}: ${count}\n`)
    .join('');
process.stdout.write(
  `seed ${values.seed}: ${report.sent} hostile requests on ${report.connections} connections in ${seconds.toFixed(0)} s\n` +
    `answered ${report.answered}, by status\n${counts(report.statuses)}` +
    `outcomes in the log\n${counts(field.relay.outcomes)}` +
    `calls to the provider\n${counts(provider.calls)}` +
    `memory of the relay: ${memory.now} MiB, at most ${memory.peak} MiB\n` +
    `honest client: p99 ${idle.p99.toFixed(1)} ms idle (${idle.requests} requests), ${attacked.p99.toFixed(1)} ms attacked (${attacked.requests} requests), ${idle.refused.length + attacked.refused.length} refused\n` +
    `${faults.length} faults\n${faults
      .slice(0, 20)
      .map((fault) => `  ${fault}\n`)
      .join('')}`,
);
process.exit(faults.length > 0 ? 1 : 0);

/** Resident memory in MiB. Linux only. */
function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name: string) =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024);
  return { now: read('VmRSS'), peak: read('VmHWM') };
}
