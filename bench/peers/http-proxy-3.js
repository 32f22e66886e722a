import { Agent, createServer } from 'node:http';
import { createProxyServer } from 'http-proxy-3';
import { announce, origin } from '../registration.ts';
import { ownToken, personOf } from './own-tokens.js';

const proxy = createProxyServer({ target: origin, agent: new Agent({ keepAlive: true }) });
const sockets = createProxyServer({ target: origin });
proxy.on('error', (_error, _request, response) => response.destroy());
sockets.on('error', (_error, _request, socket) => socket.destroy());

/** Removes headers with which a client could claim an identity. */
async function admit({ headers }) {
  headers['x-forwarded-user'] = await personOf(headers);
  delete headers.authorization;
}

const server = createServer(async (request, response) => {
  if (request.url === '/own-token') {
    response.end(ownToken);
    return;
  }
  try {
    await admit(request);
  } catch {
    response.writeHead(401).end();
    return;
  }
  if (request.url === '/auth/check/notes')
    response.writeHead(204, { 'X-Forwarded-User': request.headers['x-forwarded-user'] }).end();
  else proxy.web(request, response);
});
server.on('upgrade', async (request, socket, head) => {
  try {
    await admit(request);
    sockets.ws(request, socket, head);
  } catch {
    socket.destroy();
  }
});
server.listen(0, '127.0.0.1', () => announce(server));
