import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { WorkloadName } from './workloads.ts';

/** The figures of one contender in one workload. */
export interface Figures {
  readonly name: string;
  readonly workload: WorkloadName;
  /** CPU time in microseconds, and as a multiple of the CPU time of node:http, or empty. */
  readonly cpu: number;
  readonly relative: string;
  /** MiB at the start, after the load, and at rest. */
  readonly memory: readonly number[];
  /** Milliseconds until it listened. */
  readonly start: number;
}

const page = new URL('../docs/benchmarks.md', import.meta.url);
const chart = new URL('../docs/benchmarks.svg', import.meta.url);
const begin = '<!-- figures -->';
const end = '<!-- end of figures -->';
const titles: Readonly<Partial<Record<WorkloadName, string>>> = {
  'start-login': 'Start login',
  'complete-login': 'Complete login',
  'user-lookup': 'User lookup',
};
const style = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 15px }
  .relay { fill: #0969da } .other { fill: #8c959f }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .relay { fill: #4493f8 } .other { fill: #6e7681 }
  }`;

/** Puts the figures into docs/benchmarks.md, between two marks, and draws docs/benchmarks.svg. */
export function writeReport(measured: readonly Figures[]): void {
  const text = readFileSync(page, 'utf8');
  const before = text.split(begin)[0] ?? '';
  const after = text.split(end)[1] ?? '';
  const picture = '![CPU time by workload](benchmarks.svg)';
  const figures = [setting(), picture, comparison(measured)].join('\n\n');
  writeFileSync(page, `${before}${begin}\n\n${figures}\n\n${end}${after}`);
  writeFileSync(chart, draw(measured));
}

/** CPU time, memory and start of the relay and of its peers. The terminal shows all figures. */
function comparison(measured: readonly Figures[]): string {
  const workloads = Object.keys(titles);
  const compared = measured.filter(({ name, workload }) => workload in titles && !/^relay(,| of)/.test(name));
  const rows = namesIn(compared).map((name) => {
    const own = compared.filter((one) => one.name === name);
    const costs = workloads.map((workload) => {
      const found = own.find((one) => one.workload === workload);
      return found ? found.cpu.toFixed(0) + (found.relative && ` (${found.relative})`) : '';
    });
    const memory = Math.max(...own.map((one) => one.memory[1] ?? 0));
    const start = Math.min(...own.map((one) => one.start));
    return [name, ...costs, memory.toFixed(0), start.toFixed(0)];
  });
  return table(['CPU, µs (÷ node:http)', ...workloads, 'memory, MiB', 'start, ms'], rows);
}

const namesIn = (measured: readonly Figures[]) => [...new Set(measured.map(({ name }) => name))];

/** A table in Markdown. The first column has text, the others numbers. */
export function table([first = '', ...others]: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = ['---', ...others.map(() => '---:')];
  return [line([first, ...others]), line(rule), ...rows.map(line)].join('\n');
}

/** The measured commit, the machine and the versions. */
function setting(): string {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const versions = [
    ...versionsIn('../package.json', ['koa', '@koa/router', '@koa/cors', 'got']),
    ...versionsIn('./peers/package.json', ['grant', 'fastify', '@fastify/oauth2']),
  ];
  return `Measured at commit ${commit}, on ${cpus().length} × ${cpus()[0]?.model}, with Node.js ${process.versions.node}, ${versions.join(', ')}.`;
}

function versionsIn(file: string, names: readonly string[]): string[] {
  const { dependencies } = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
  return names.map((name) => `${name} ${dependencies[name]}`);
}

function draw(measured: readonly Figures[]): string {
  let y = 0;
  const drawn = Object.entries(titles).flatMap(([drawn, title]) => {
    const bars = measured.filter(({ workload }) => workload === drawn);
    y += 34;
    const head = `<text class="title" x="0" y="${y - 10}">${title}: CPU time, µs</text>`;
    const longest = Math.max(...bars.map(({ cpu }) => cpu));
    const rows = bars
      .toSorted((one, other) => one.cpu - other.cpu)
      .map(({ name, cpu }) => {
        const length = Math.round((cpu / longest) * 330);
        const row = `<text x="302" y="${y + 14}" text-anchor="end">${name}</text>
<rect class="${name.startsWith('relay') ? 'relay' : 'other'}" x="310" y="${y + 3}" width="${length}" height="14" rx="2"/>
<text x="${316 + length}" y="${y + 14}">${cpu.toFixed(0)}</text>`;
        y += 20;
        return row;
      });
    return [head, ...rows];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 ${y + 8}" width="720" height="${y + 8}" role="img" aria-label="CPU time of the relay, similar programs and node:http">
<style>${style}
</style>
${drawn.join('\n')}
</svg>
`;
}
