// Measures how long the executable takes to start, compared with an empty program that was built in the same way.
// Usage: LOGIN_RELAY=<binary> node scripts/binary/measure-start.ts <empty binary> [rounds]
import { spawnSync } from 'node:child_process';
import { request } from '../../test/harness/client/request.ts';
import { runRelay } from '../../test/harness/relay/relay-process.ts';
import { listening, secretFile } from '../../test/harness/relay/relay-under-test.ts';

const [empty = '', rounds = '40'] = process.argv.slice(2);
const key = { KEY_FILE: await secretFile('a key of the benchmark, of 32 characters or more') };
const measurements: Record<string, () => unknown> = {
  'empty program': () => spawnSync(empty),
  '--version': () => runRelay({ words: ['--version'] }),
  '--help': () => runRelay({ words: ['--help'] }),
  'first 307': () => firstRedirect(key),
  '  without a key file': () => firstRedirect({}),
};

// They run in turns, so that other load on the machine affects all of them equally.
const times = new Map(Object.keys(measurements).map((name) => [name, [] as number[]]));
for (let round = -2; round < Number(rounds); round += 1) {
  for (const [name, measure] of Object.entries(measurements)) {
    const start = performance.now();
    const stop = await measure();
    if (round >= 0) times.get(name)?.push(performance.now() - start);
    if (typeof stop === 'function') await stop();
  }
}

const base = median(times.get('empty program') ?? []);
process.stdout.write(`medians of ${rounds} rounds\n`);
for (const [name, all] of times) {
  const time = median(all);
  const figures = `${time.toFixed(1).padStart(6)} ms  ${(time / base).toFixed(2)} times`;
  process.stdout.write(`${name.padEnd(20)} ${figures}\n`);
}

/** @returns a function that stops the relay */
async function firstRedirect(settings: Record<string, string>): Promise<() => Promise<unknown>> {
  const { relay, port } = await listening({
    flags: { port: '0', 'base-url': 'http://localhost:8000', origin: 'https://app.example.com' },
    env: { PROVIDER_CLIENT_ID: 'id', PROVIDER_CLIENT_SECRET: 'secret', ...settings },
  });
  const { status } = await request(port, { path: '/auth/provider' });
  if (status !== 307) throw new Error(`the relay answered ${status}`);
  return () => relay.stop('SIGKILL');
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
