import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Opens any free port and says which. */
export function announce(server: Server): void {
  server.keepAliveTimeout = 75_000;
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`${JSON.stringify({ address: `http://127.0.0.1:${port}` })}\n`);
  });
}
