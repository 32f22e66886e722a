// Measures the relay beside its peers and its limits. Linux only.
import { parseArgs } from 'node:util';
import type { RunningContender } from './contenders/contender.ts';
import { contenders } from './contenders/contenders.ts';
import { startProvider } from './contenders/provider.ts';
import { type Experiment, experiments, type Figures } from './experiments.ts';
import { full, type Pace, quick } from './measurements/pace.ts';
import { table } from './report/table.ts';

const roundTrip = 50;

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    experiment: { type: 'string', multiple: true, default: experiments.map(({ name }) => name) },
    contender: { type: 'string', multiple: true, default: contenders.map(({ name }) => name) },
  },
});

const pace = values.quick ? quick : full;
for (const experiment of experiments) {
  if (!values.experiment.includes(experiment.name)) continue;
  const figures = await conduct(experiment, pace);
  process.stdout.write(`\n${table(experiment, figures)}\n`);
}

async function conduct(experiment: Experiment, pace: Pace): Promise<Map<string, Figures>> {
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
    return await experiment.measure(running, pace);
  } finally {
    for (const contender of running.values()) await contender.stop();
    await provider.stop();
  }
}
