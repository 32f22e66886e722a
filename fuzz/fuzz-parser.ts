// Fuzzes one parser, guided by what of its code each input reaches: node fuzz/fuzz-parser.ts query
//
// The inputs that reached something new are kept in fuzz/corpus/, in base64, one a line.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    /** Length of the longest input, in bytes. */
    longest: { type: 'string', default: '4096' },
  },
});
const [parser = ''] = positionals;
const target = `dist/fuzz/${parser}.mjs`;
const found = `dist/fuzz/corpus/${parser}`;
const kept = `dist/fuzz/kept/${parser}`;
const corpus = `fuzz/corpus/${parser}.txt`;

await build({
  entryPoints: [`fuzz/parsers/${parser}.ts`],
  outfile: target,
  bundle: true,
  platform: 'node',
  format: 'esm',
  // Libraries that are not parsers stay outside; those that parse what comes in are fuzzed as well.
  external: ['koa', 'got'],
});
for (const folder of [found, kept]) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}
for (const [index, line] of readFileSync(corpus, 'utf8').trimEnd().split('\n').entries()) {
  writeFileSync(`${found}/${index}`, Buffer.from(line, 'base64'));
}

const seconds = Number(values.minutes) * 60;
await jazzer([found], `-max_total_time=${seconds}`, `-max_len=${values.longest}`);
// The fewest inputs that reach all that was reached.
await jazzer([kept, found], '-merge=1', `-max_len=${values.longest}`);
const inputs = readdirSync(kept).map((name) => readFileSync(`${kept}/${name}`).toString('base64'));
writeFileSync(corpus, `${inputs.sort().join('\n')}\n`);

async function jazzer(folders: string[], ...libFuzzer: string[]): Promise<void> {
  const child = spawn(
    process.execPath,
    [
      'fuzz/jazzer/node_modules/@jazzer.js/core/dist/cli.js',
      `${process.cwd()}/${target}`,
      ...folders,
      '--includes=dist/fuzz/',
      // In milliseconds; more than a machine may pause a job of low priority.
      '--timeout=600000',
      ...(parser === 'provider-answer' ? [] : ['--sync']),
      '--',
      `-seed=${values.seed}`,
      `-artifact_prefix=dist/fuzz/${parser}-`,
      '-print_final_stats=1',
      ...libFuzzer,
    ],
    { stdio: 'inherit' },
  );
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exit(1);
}
