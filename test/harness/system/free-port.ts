import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

// Outgoing connections use ports from 32768 on. A lower port stays free.
const lowest = 20_000;
const highest = 32_767;
const blockSize = 64;

/** Ports that only this process gives away. */
const own: number[] = [];

/** A free port of the loopback, for servers that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = own.shift();
    if (port === undefined) own.push(...(await takeBlock()));
    else if (await isFree(port)) return port;
  }
}

/**
 * Reserves ports among all test processes of this machine. This process holds the first port of the block until it
 * ends.
 */
async function takeBlock(): Promise<number[]> {
  const blocks = Math.floor((highest + 1 - lowest) / blockSize);
  const first = lowest + randomInt(blocks) * blockSize;
  const server = await listenOn(first);
  server?.unref();
  return server ? Array.from({ length: blockSize - 1 }, (_, index) => first + 1 + index) : [];
}

async function isFree(port: number): Promise<boolean> {
  const server = await listenOn(port);
  if (server === undefined) return false;
  server.close();
  await once(server, 'close');
  return true;
}

/** @returns undefined if the port is taken */
async function listenOn(port: number): Promise<Server | undefined> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.on('listening', () => resolve(server)).on('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1');
  });
}
