// Measures the relay beside its peers and its limits. Linux only; to be run on the second core.
import { parseArgs } from 'node:util';
import type { RunningContender } from './contenders/contender.ts';
import { contenders } from './contenders/contenders.ts';
import { startProvider } from './contenders/provider.ts';
import { type Experiment, experiments, type Figures } from './experiments.ts';
import { full, quick } from './measurements/pace.ts';
import { drawChart } from './report/chart.ts';
import { writePage } from './report/page.ts';
import { keepResults, readResults } from './report/results.ts';
import { table } from './report/table.ts';

const roundTrip = 50;
// Between them they take every contender through everything.
const telling = ['complete-login', 'user-lookup', 'mixed', 'distant-lookup'];

const { values } = parseArgs({
  options: {
    experiment: { type: 'string', multiple: true },
    contender: { type: 'string', multiple: true, default: contenders.map(({ name }) => name) },
    quick: { type: 'boolean', default: false },
    /** Into docs/, in place of what the same experiments found out before. */
    write: { type: 'boolean', default: false },
  },
});

const wanted = values.experiment ?? (values.quick ? telling : experiments.map(({ name }) => name));
for (const experiment of experiments) {
  if (!wanted.includes(experiment.name)) continue;
  const figures = await conduct(experiment);
  process.stdout.write(`\n${table(experiment, figures)}\n`);
  if (values.write) keepResults(experiment, figures);
}
if (values.write) {
  writePage(readResults());
  drawChart(readResults());
}

async function conduct(experiment: Experiment): Promise<Map<string, Figures>> {
  const provider = await startProvider(roundTrip);
  const running = new Map<string, RunningContender>();
  try {
    for (const contender of contenders) {
      const { name, workloads } = contender;
      if (!workloads.includes(experiment.name) || !values.contender.includes(name)) continue;
      const missing = contender.missing();
      if (missing === undefined) {
        running.set(name, await contender.start(provider, experiment.distance));
      } else process.stderr.write(`${name} is left out: ${missing}\n`);
    }
    return await experiment.measure(running, values.quick ? quick : full);
  } finally {
    for (const contender of running.values()) await contender.stop();
    await provider.stop();
  }
}
