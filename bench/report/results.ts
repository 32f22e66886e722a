import { readFileSync, writeFileSync } from 'node:fs';
import type { Experiment, Figures } from '../experiments.ts';
import { describeSetting, type Setting } from '../versions.ts';

const file = new URL('../../docs/benchmarks.json', import.meta.url);

/** Everything that was measured, by experiment and contender. */
export interface Results extends Setting {
  readonly experiments: Readonly<Record<string, Readonly<Record<string, Figures>>>>;
}

/** What was measured up to now. */
export function readResults(): Results {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Keeps what one experiment found out in place of what it did before. */
export function keepResults({ name }: Experiment, figures: ReadonlyMap<string, Figures>): void {
  const { experiments } = readResults();
  const results: Results = {
    ...describeSetting(),
    experiments: { ...experiments, [name]: Object.fromEntries(figures) },
  };
  writeFileSync(file, `${JSON.stringify(results, rounded, 2)}\n`);
}

function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value;
}
