// How much memory a relay takes: before, idle, right after many logins, each of them a start, a callback
// and a user lookup, and once it has been left alone. Resident memory is from /proc: Linux only.
// Usage: node bench/memory.ts <executable> [--logins <number>]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  options: { logins: { type: 'string', default: '10000' } },
  allowPositionals: true,
});
const [executable] = positionals;
if (!executable) throw new Error('name the executable');
const logins = Number(values.logins);
const concurrently = 16;
// V8 hands memory back once a program has done little for 8 seconds, in steps.
const rest = 30_000;

const provider = createServer((request, response) => {
  request.resume();
  const answer = request.url?.startsWith('/token')
    ? { access_token: 'token' }
    : { login: 'octocat' };
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(answer));
});
provider.listen(0, '127.0.0.1');
await once(provider, 'listening');
const address = provider.address();
if (address === null || typeof address === 'string') throw new Error('not a TCP server');
const providerUrl = `http://127.0.0.1:${address.port}`;

// As a download lies in the page cache: what was just linked there lies in larger pieces.
const folder = mkdtempSync(join(tmpdir(), 'login-relay-memory-'));
const installed = join(folder, 'login-relay');
copyFileSync(executable, installed);
const relay = spawn(installed, ['--port', '0', '--base-url', 'http://localhost:8000'], {
  env: {
    FRONTEND_ORIGIN: 'http://localhost:3000',
    PROVIDER_CLIENT_ID: 'bench',
    PROVIDER_CLIENT_SECRET: 'bench',
    PROVIDER_AUTHORIZE_URL: `${providerUrl}/authorize`,
    PROVIDER_TOKEN_URL: `${providerUrl}/token`,
    PROVIDER_USER_URL: `${providerUrl}/user`,
    LOG_FORMAT: 'json',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = await once(createInterface(relay.stdout), 'line');
relay.stdout.resume();
const url: string = JSON.parse(line).address;
const agent = new Agent({ keepAlive: true, maxSockets: concurrently });

await settled();
report('before');
let left = logins;
const visitor = async () => {
  while (left-- > 0) await logIn();
};
await Promise.all(Array.from({ length: concurrently }, visitor));
report(`after ${logins} logins`);
await setTimeout(rest);
report('at rest');
relay.kill();
agent.destroy();
provider.close();
provider.closeAllConnections();
rmSync(folder, { recursive: true });

async function logIn(): Promise<void> {
  const started = await ask('/auth/provider', {}, 307);
  const cookie = started.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const state = new URL(started.headers.location ?? '').searchParams.get('state');
  await ask(`/auth/provider/callback?code=code&state=${state}`, { cookie }, 307);
  await ask('/api/user', { authorization: 'Bearer token' }, 200);
}

async function ask(
  path: string,
  headers: Record<string, string>,
  expected: number,
): Promise<IncomingMessage> {
  const [response]: IncomingMessage[] = await once(get(url + path, { agent, headers }), 'response');
  if (response?.statusCode !== expected) throw new Error(`${path}: ${response?.statusCode}`);
  response.resume();
  await once(response, 'end');
  return response;
}

/** Waits until the relay is idle: what its first calls need is loaded after it has begun to listen. */
async function settled(): Promise<void> {
  let before = Number.NaN;
  for (;;) {
    const now = kibibytes('VmRSS');
    if (now === before) return;
    before = now;
    await setTimeout(500);
  }
}

function kibibytes(name: string): number {
  const status = readFileSync(`/proc/${relay.pid}/status`, 'utf8');
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]);
}

function report(when: string): void {
  const megabytes = (name: string) => `${((kibibytes(name) * 1024) / 1e6).toFixed(0)} MB`;
  process.stdout.write(
    `${when}: ${megabytes('VmRSS')} resident (${megabytes('RssAnon')} its own), at most ${megabytes('VmHWM')}\n`,
  );
}
