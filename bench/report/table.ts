import type { Experiment, Figures } from '../experiments.ts';
import type { Spread } from '../statistics.ts';

/** The figures of an experiment as a table in Markdown. */
export function table({ title, rate }: Experiment, figures: ReadonlyMap<string, Figures>): string {
  const rows = [...figures].map(
    ([name, { cpu, throughput, cpuAtRate, memory, p50, p99, growth }]) => [
      name,
      range(cpu, 0),
      number(throughput?.median, 0),
      range(cpuAtRate, 0),
      range(p50, 2),
      range(p99, 2),
      growth
        ? `${number(growth.atStart, 0)} → ${number(growth.halfway, 0)} → ${number(growth.afterwards, 0)}`
        : number(memory, 0),
    ],
  );
  const heads = [
    title,
    'CPU, µs',
    'per second',
    `CPU at ${rate}/s, µs`,
    `p50 at ${rate}/s, ms`,
    `p99 at ${rate}/s, ms`,
    'memory, MiB',
  ];
  const used = heads.map((_, column) => column === 0 || rows.some((row) => row[column] !== ''));
  const line = (cells: readonly string[]) => `| ${cells.filter((_, at) => used[at]).join(' | ')} |`;
  const rule = heads.map((_, column) => (column === 0 ? '---' : '---:'));
  return [line(heads), line(rule), ...rows.map(line)].join('\n');
}

function range(spread: Spread | undefined, digits: number): string {
  if (spread === undefined) return '';
  const { median, least, most } = spread;
  return `**${number(median, digits)}** (${number(least, digits)}–${number(most, digits)})`;
}

function number(value: number | undefined, digits: number): string {
  return value === undefined ? '' : value.toFixed(digits);
}
