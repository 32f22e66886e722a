// Gives a relay hostile answers of its provider: node fuzz/provider-answers.ts --answers 200000 --seed 1
//
// The seed and the number of a call determine the answer. Repeat it with --first and --answers 1.
import { parseArgs } from 'node:util';
import { openBattlefield } from './hostile/battlefield.ts';
import { startHonestClient } from './hostile/honest.ts';
import { startHostileProvider } from './hostile/hostile-provider.ts';
import { endure } from './hostile/ordeal.ts';

const { values } = parseArgs({
  options: {
    answers: { type: 'string', default: '200000' },
    calls: { type: 'string', default: '16' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    first: { type: 'string', default: '0' },
  },
});

const provider = await startHostileProvider(Number(values.seed));
const field = await openBattlefield(provider, { 'provider-timeout': '5' });
const honest = startHonestClient(field.relay.port);
const start = performance.now();
const report = await endure({
  port: field.relay.port,
  targets: field.targets,
  provider,
  answers: Number(values.answers),
  calls: Number(values.calls),
  first: Number(values.first),
});
const seconds = (performance.now() - start) / 1000;
const served = await honest.observe();
await honest.stop();
await field.close();

const faults = [...report.faults, ...field.relay.faults, ...served.refused];
const ends = [...report.ends].sort().map(([end, count]) => `  ${end}: ${count}\n`);
process.stdout.write(
  `seed ${values.seed}: ${provider.answers} hostile answers in ${seconds.toFixed(0)} s\n${ends.join('')}` +
    `honest client: ${served.requests} requests, p99 ${served.p99.toFixed(1)} ms, ${served.refused.length} refused\n` +
    `${faults.length} faults\n${faults
      .slice(0, 20)
      .map((fault) => `  ${fault}\n`)
      .join('')}`,
);
process.exit(faults.length > 0 ? 1 : 0);
