import { once } from 'node:events';
import { createServer } from 'node:http';

export const clientId = 'client-1';

/**
 * What answers at the relay's own addresses: it redirects the start of a login as a relay of the
 * client does, and shows a page for everything else, as a front end does.
 */
const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '', ownAddress);
  if (!pathname.startsWith('/auth/')) {
    response.end('<!doctype html>');
    return;
  }
  const redirectUri = `${ownAddress}${pathname}/callback`;
  const query = new URLSearchParams({ client_id: clientId, redirect_uri: redirectUri });
  response.writeHead(307, { Location: `https://provider.invalid/authorize?${query}` }).end();
});

server.listen(0, '127.0.0.1');
await once(server, 'listening');
// It lives as long as the tests do.
server.unref();

/** The base URL and the origin of the checks. */
export const ownAddress = `http://127.0.0.1:${portOf(server.address())}`;

function portOf(address: ReturnType<typeof server.address>): number {
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  return address.port;
}
