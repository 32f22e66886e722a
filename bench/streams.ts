// Opens event streams and WebSockets through doors, with an event a second in each, and measures what an event costs, how much
// memory a stream takes, and what logins notice of them. Linux only; run it on core 1.
// Usage: node bench/streams.ts [streams] [seconds]
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { contenders } from './contenders.ts';
import { closedLoop, during, openLoop, percentile } from './load.ts';
import { PinnedProcess } from './pinned-process.ts';
import { registration } from './registration.ts';
import { table } from './report.ts';
import { loginForResource, resourceToken, type Target, workloads } from './workloads.ts';

const count = Number(process.argv[2] ?? 300);
const seconds = Number(process.argv[3] ?? 20);
/** A login may have 32 streams. */
const streamsOfLogin = 30;

/** The other doors pass no WebSockets, or not with the settings of the benchmark. */
const measured = ['relay, with a resource', '@fastify/http-proxy and jose', 'http-proxy-3 and jose'];

const kinds = {
  'event streams': { path: '/mcp/events', headers: '' },
  WebSockets: {
    path: '/mcp/socket',
    headers:
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n',
  },
} as const;

write(table([`${count} streams`, 'CPU of an event, µs', 'memory of a stream, KiB', 'login, p50 ms', 'with them'], []));
const provider = new PinnedProcess(1, [process.execPath, 'bench/provider.ts']);
const providerPort = await provider.port();
for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) {
  for (const contender of contenders.filter(({ name }) => measured.includes(name))) {
    const server = new PinnedProcess(0, contender.command(providerPort), {
      PROVIDER_URL: `http://127.0.0.1:${providerPort}`,
      PROVIDER_CLIENT_SECRET: registration.clientSecret,
    });
    const target = { ...contender, providerPort, port: await server.port() };
    write(`| ${[`${contender.name}, ${kind}`, ...(await measure(kind, server, target))].join(' | ')} |`);
    await server.stop();
  }
}
await provider.stop();

async function measure(kind: keyof typeof kinds, server: PinnedProcess, target: Target): Promise<string[]> {
  await closedLoop(workloads.gateway, target, during(5));
  if (!target.grantsTokens) await closedLoop((to) => loginForResource(to), target, during(5));
  const without = await logIn(target);
  const memory = server.memory();
  const streams: Socket[] = [];
  for (let token = ''; streams.length < count; ) {
    if (streams.length % streamsOfLogin === 0) token = await resourceToken(target);
    streams.push(await open(kind, target, token));
  }
  const cpu = server.cpuTime();
  const before = eventsOf(streams);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  const cost = (server.cpuTime() - cpu) / (eventsOf(streams) - before);
  const taken = ((server.memory() - memory) * 1024) / count;
  const withStreams = await logIn(target);
  for (const one of streams) one.destroy();
  return [cost.toFixed(0), taken.toFixed(0), without, withStreams];
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** How long a complete login takes; empty where there is none. */
async function logIn(target: Target): Promise<string> {
  if (target.grantsTokens) return '';
  return percentile(await openLoop((to) => loginForResource(to), target, 50, 5), 50).toFixed(2);
}

/** An event has about a hundred bytes. */
function eventsOf(streams: readonly Socket[]): number {
  return streams.reduce((sum, { bytesRead }) => sum + bytesRead / 100, 0);
}

async function open(kind: keyof typeof kinds, { port }: Target, token: string): Promise<Socket> {
  const { path, headers } = kinds[kind];
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost:8000\r\nAuthorization: Bearer ${token}\r\n${headers}\r\n`);
  const [first]: Buffer[] = await once(socket, 'data');
  if (!/^HTTP\/1\.1 (?:101|200) /.test(`${first}`)) throw new Error(`no stream:\n${first}`);
  return socket.resume();
}
