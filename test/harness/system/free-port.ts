import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

// Outgoing connections are given ports from 32768 on: what is chosen here stays free of them.
const lowest = 20_000;
const highest = 32_767;
const given = new Set<number>();

/** A port of the loopback that nobody listens on, for servers that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, highest + 1);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const free = await new Promise<boolean>((resolve) => {
    server.on('listening', () => resolve(true)).on('error', () => resolve(false));
    server.listen(port, '127.0.0.1');
  });
  if (!free) return false;
  server.close();
  await once(server, 'close');
  return true;
}
