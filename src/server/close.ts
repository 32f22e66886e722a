import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import { Server as NetServer } from 'node:net';
import type { ServerLimits } from '../limits.ts';

// Connections that fall idle while the server closes are looked for this often.
const idleSweep = 100;

/**
 * Stops listening, lets requests under way finish, and closes every connection. Kept connections may
 * bring further requests for a while: a client cannot know that they are about to close.
 */
export async function close(
  server: Server | SecureServer,
  { stopTime, stopIdleTime }: Pick<ServerLimits, 'stopTime' | 'stopIdleTime'>,
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    // The one of HTTP would close idle connections at once.
    NetServer.prototype.close.call(server, () => resolve());
  });
  let sweep: NodeJS.Timeout | undefined;
  const timers = [
    setTimeout(() => server.closeAllConnections(), stopTime),
    setTimeout(() => {
      // An immediate runs once all that has arrived was read: who has asked is not idle any more.
      sweep = setInterval(() => setImmediate(() => server.closeIdleConnections()), idleSweep);
    }, stopIdleTime),
  ];
  await closed;
  for (const timer of timers) clearTimeout(timer);
  clearInterval(sweep);
}
