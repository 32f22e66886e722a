import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';

/** Serves on this port of the loopback. Returns a function that stops it. */
export async function serveOnLoopback(
  port: number,
  listener: RequestListener,
): Promise<() => Promise<void>> {
  const server = createServer(listener).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
}
