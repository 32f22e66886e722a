import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import { Server as NetServer } from 'node:net';
import type { Limits } from '../limits.ts';

// Milliseconds between two searches for idle connections, while the server closes.
const idleSweep = 100;

/**
 * Stops listening, lets requests in flight finish, and closes every connection. Keep-alive connections
 * may send further requests for a while: their clients cannot know that the server is closing.
 */
export async function close(
  server: Server | SecureServer,
  { stopTime, stopIdleTime }: Pick<Limits, 'stopTime' | 'stopIdleTime'>,
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    // http.Server's own close() would close idle connections at once.
    NetServer.prototype.close.call(server, () => resolve());
  });
  let sweep: NodeJS.Timeout | undefined;
  const timers = [
    setTimeout(() => server.closeAllConnections(), stopTime),
    setTimeout(() => {
      // setImmediate runs after pending reads. A connection with a new request is no longer idle then.
      sweep = setInterval(() => setImmediate(() => server.closeIdleConnections()), idleSweep);
    }, stopIdleTime),
  ];
  await closed;
  for (const timer of timers) clearTimeout(timer);
  clearInterval(sweep);
}
