/** Measurements of the relay at one moment of a run. */
export interface Sample {
  /** The number of finished requests. */
  readonly requests: number;
  /** In MiB. */
  readonly residentMemory: number;
  readonly descriptors: number;
  /** In milliseconds. */
  readonly eventLoopDelay: number;
}

interface Panel {
  readonly title: string;
  readonly of: (sample: Sample) => number;
}

const panels: readonly Panel[] = [
  { title: 'resident memory, MiB', of: ({ residentMemory }) => residentMemory },
  { title: 'open descriptors', of: ({ descriptors }) => descriptors },
  { title: 'event-loop delay, 99th percentile, ms', of: ({ eventLoopDelay }) => eventLoopDelay },
];
const width = 760;
const left = 50;
const height = 120;
const gap = 50;

/** Draws the samples as an SVG image, with a panel for each measurement. */
export function plot(samples: readonly Sample[]): string {
  const last = samples.at(-1)?.requests ?? 1;
  const total = panels.length * (height + gap) + gap;
  const drawn = panels.map((panel, index) =>
    draw(panel, samples, last, gap + index * (height + gap)),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + width + 20} ${total}" font-family="sans-serif" font-size="12" role="img" aria-label="Memory, descriptors and event-loop delay over the requests">
<rect width="100%" height="100%" fill="white"/>
${drawn.join('\n')}
<text x="${left + width}" y="${total - 15}" text-anchor="end">${last.toLocaleString('en')} requests</text>
</svg>
`;
}

function draw({ title, of }: Panel, samples: readonly Sample[], last: number, top: number): string {
  const highest = roundUp(Math.max(...samples.map(of), 1));
  const bottom = top + height;
  const points = samples.map((sample) => {
    const x = left + (sample.requests / last) * width;
    const y = bottom - (of(sample) / highest) * height;
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const lines = [0, 0.5, 1].map((part) => {
    const y = bottom - part * height;
    return `<path d="M${left} ${y}h${width}" stroke="#ddd"/><text x="${left - 6}" y="${y + 4}" text-anchor="end">${part * highest}</text>`;
  });
  return `<text x="${left}" y="${top - 10}" font-weight="bold">${title}</text>
${lines.join('\n')}
<polyline points="${points.join(' ')}" fill="none" stroke="#1f5fbf" stroke-width="1.5"/>`;
}

/** The smallest of 1, 2, 5, 10, 20, 50 … that is not below the value. */
function roundUp(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * unit).find((mark) => mark >= value) ?? value;
}
