// What login protection costs: CPU time of start login with it, beside start login without it.
//
// Two relays run side by side and get the same load in turns, so that both see the same machine.
// CPU time is the process's own, user and system, from /proc: Linux only.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    requests: { type: 'string', default: '5000' },
    warmup: { type: 'string', default: '60000' },
  },
});
const rounds = Number(values.rounds);
const requests = Number(values.requests);
const connections = 16;

interface Contender {
  readonly stateCheck: 'browsers' | 'off';
  readonly pid: number;
  readonly url: string;
  readonly agent: Agent;
  stop(): void;
}

async function start(stateCheck: Contender['stateCheck']): Promise<Contender> {
  const child = spawn(
    process.execPath,
    [
      'bin/login-relay.ts',
      '--port',
      '0',
      '--base-url',
      'http://localhost:8000',
      '--state-check',
      stateCheck,
    ],
    {
      env: {
        ...process.env,
        FRONTEND_ORIGIN: 'http://localhost:3000',
        PROVIDER_CLIENT_ID: 'bench',
        PROVIDER_CLIENT_SECRET: 'bench',
        LOG_FORMAT: 'json',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [line] = await once(createInterface(child.stdout), 'line');
  child.stdout.resume();
  const { address } = JSON.parse(line);
  return {
    stateCheck,
    pid: child.pid ?? 0,
    url: `${address}/auth/provider`,
    agent: new Agent({ keepAlive: true, maxSockets: connections }),
    stop: () => child.kill(),
  };
}

async function load({ url, agent }: Contender, count: number): Promise<void> {
  const one = async () => {
    const request = get(url, { agent });
    const [response] = await once(request, 'response');
    response.resume();
    await once(response, 'end');
    if (response.statusCode !== 307) throw new Error(`start login answered ${response.statusCode}`);
  };
  let left = count;
  const client = async () => {
    while (left-- > 0) await one();
  };
  await Promise.all(Array.from({ length: connections }, client));
}

/** Microseconds of CPU time a request. */
async function measure(contender: Contender): Promise<number> {
  const before = cpuTime(contender.pid);
  await load(contender, requests);
  return (cpuTime(contender.pid) - before) / requests;
}

/** Microseconds, over every thread. */
function cpuTime(pid: number): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, time) => sum + time, 0) / 1000;
}

const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? NaN;
const row = (name: string, numbers: number[], unit: string) =>
  `${name.padEnd(24)} median ${median(numbers).toFixed(2)}, ${Math.min(...numbers).toFixed(2)} to ${Math.max(...numbers).toFixed(2)} ${unit}\n`;

const off = await start('off');
const on = await start('browsers');
try {
  for (const contender of [off, on]) await load(contender, Number(values.warmup));
  const without: number[] = [];
  const protectedLogins: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    without.push(await measure(off));
    protectedLogins.push(await measure(on));
  }
  const ratios = protectedLogins.map((time, round) => time / (without[round] ?? NaN));
  process.stdout.write(
    row('--state-check off', without, 'µs of CPU a request') +
      row('--state-check browsers', protectedLogins, 'µs of CPU a request') +
      row('ratio, pair by pair', ratios, ''),
  );
} finally {
  for (const contender of [off, on]) {
    contender.agent.destroy();
    contender.stop();
  }
}
