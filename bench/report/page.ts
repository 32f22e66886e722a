import { readFileSync, writeFileSync } from 'node:fs';
import { experiments } from '../experiments.ts';
import type { Results } from './results.ts';
import { table } from './table.ts';

const file = new URL('../../docs/benchmarks.md', import.meta.url);
const [begin, end] = ['<!-- figures -->', '<!-- end of figures -->'];

/** Puts the figures into docs/benchmarks.md, between two marks. */
export function writePage(results: Results): void {
  const [before] = readFileSync(file, 'utf8').split(begin);
  const [, after] = readFileSync(file, 'utf8').split(end);
  writeFileSync(file, `${before}${begin}\n\n${figures(results)}\n\n${end}${after}`);
}

function figures({ machine, versions, experiments: measured }: Results): string {
  const tables = experiments.flatMap((experiment) => {
    const figures = measured[experiment.name];
    return figures ? [table(experiment, new Map(Object.entries(figures)))] : [];
  });
  const list = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [`Measured on ${machine}.`, `${list.join(', ')}.`, ...tables].join('\n\n');
}
