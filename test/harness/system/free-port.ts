import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

// Outgoing connections use ports from 32768 on. A lower port stays free.
const lowest = 20_000;
const highest = 32_767;
const given = new Set<number>();

/** A free port of the loopback, for servers that cannot choose one themselves. */
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
