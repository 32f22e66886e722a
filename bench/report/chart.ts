import { writeFileSync } from 'node:fs';
import { contenders } from '../contenders/contenders.ts';
import type { Results } from './results.ts';

const file = new URL('../../docs/benchmarks.svg', import.meta.url);
const panels = [
  ['start-login', 'Start login'],
  ['complete-login', 'Complete login'],
  ['user-lookup', 'User lookup'],
] as const;
const width = 720;
const nameWidth = 250;
const barWidth = 390;
const rowHeight = 20;
const titleHeight = 34;

const style = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 15px }
  .relay { fill: #0969da } .peer { fill: #8c959f } .limit { fill: #d0d7de }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .relay { fill: #4493f8 } .peer { fill: #6e7681 } .limit { fill: #3d444d }
  }`;

/** Draws the CPU time of every contender as bars: docs/benchmarks.svg. */
export function drawChart({ experiments }: Results): void {
  let y = 0;
  const drawn: string[] = [];
  for (const [name, title] of panels) {
    const bars = barsOf(experiments[name] ?? {});
    const longest = Math.max(...bars.map(({ cpu }) => cpu));
    y += titleHeight;
    drawn.push(`<text class="title" x="0" y="${y - 10}">${title}: CPU time, µs</text>`);
    for (const { contender, kind, cpu } of bars) {
      const length = ((cpu / longest) * barWidth).toFixed(1);
      drawn.push(
        `<text x="${nameWidth - 8}" y="${y + 14}" text-anchor="end">${contender}</text>`,
        `<rect class="${kind}" x="${nameWidth}" y="${y + 3}" width="${length}" height="14" rx="2"/>`,
        `<text x="${nameWidth + Number(length) + 6}" y="${y + 14}">${cpu.toFixed(0)}</text>`,
      );
      y += rowHeight;
    }
  }
  const height = y + 8;
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="CPU time of the relay, its peers and its limits">`;
  writeFileSync(file, `${head}\n<style>${style}\n</style>\n${drawn.join('\n')}\n</svg>\n`);
}

function barsOf(figures: Results['experiments'][string]) {
  return contenders
    .flatMap(({ name, kind }) => {
      const cpu = figures[name]?.cpu?.median;
      return cpu === undefined ? [] : [{ contender: name, kind, cpu }];
    })
    .toSorted((a, b) => a.cpu - b.cpu);
}
