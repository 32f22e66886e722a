// Measures how long the executable takes to start, beside an empty program built the same way.
// Usage: node scripts/measure-start.ts <binary> <empty binary> [rounds]
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { freePort } from '../../test/harness/system/free-port.ts';

const [binary, empty, rounds = '40'] = process.argv.slice(2);
if (!binary || !empty) throw new Error('give the binary and the empty binary');

const port = await freePort();
const folder = mkdtempSync(join(tmpdir(), 'login-relay-'));
const keyFile = join(folder, 'key');
writeFileSync(keyFile, randomBytes(32).toString('hex'), { mode: 0o600 });
const measurements: Record<string, () => Promise<number>> = {
  'empty program': () => untilExit(empty, []),
  '--version': () => untilExit(binary, ['--version']),
  '--help': () => untilExit(binary, ['--help']),
  'first 307': () => untilFirstRedirect(binary, { KEY_FILE: keyFile }),
  '  without a key file': () => untilFirstRedirect(binary, {}),
};

// They run in turns, so that other load on the machine affects all of them equally.
const times = Object.keys(measurements).map((name) => ({ name, all: [] as number[] }));
for (let round = -2; round < Number(rounds); round++) {
  for (const { name, all } of times) {
    const time = await measurements[name]?.();
    if (round >= 0 && time !== undefined) all.push(time);
  }
}
rmSync(folder, { recursive: true });

const base = median(times[0]?.all ?? []);
process.stdout.write(`medians of ${rounds} rounds\n`);
for (const { name, all } of times) {
  const time = median(all);
  const figures = `${time.toFixed(1).padStart(6)} ms  ${(time / base).toFixed(2)} times`;
  process.stdout.write(`${name.padEnd(20)} ${figures}\n`);
}

function untilExit(command: string, options: string[]): Promise<number> {
  return timed(async () => {
    await once(spawn(command, options, { stdio: 'ignore' }), 'exit');
  });
}

async function untilFirstRedirect(
  command: string,
  settings: Readonly<Record<string, string>>,
): Promise<number> {
  let relay: ChildProcess | undefined;
  const time = await timed(async () => {
    relay = spawn(command, ['--port', `${port}`, '--origin', 'https://app.example.com'], {
      env: { PROVIDER_CLIENT_ID: 'id', PROVIDER_CLIENT_SECRET: 'secret', ...settings },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    // Its first line says that it listens.
    if (relay.stdout) await once(relay.stdout, 'data');
    const status = await statusOf(`http://127.0.0.1:${port}/auth/provider`);
    if (status !== 307) throw new Error(`the relay answered ${status}`);
  });
  relay?.kill('SIGKILL');
  if (relay) await once(relay, 'exit');
  return time;
}

function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', reject);
  });
}

async function timed(action: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
