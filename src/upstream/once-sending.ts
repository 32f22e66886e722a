import type { ClientRequest } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

/**
 * Calls back before the first byte of a request is written. That is when its connection is ready: with
 * TLS, after the handshake and the check of the certificate.
 */
export function onceSending(request: ClientRequest, callback: () => void): void {
  const watch = (socket: Duplex) => {
    if (isReady(socket)) callback();
    else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', callback);
  };
  if (request.socket) watch(request.socket);
  else request.once('socket', watch);
}

function isReady(socket: Duplex): boolean {
  if (socket instanceof TLSSocket) return socket.authorized;
  return !(socket instanceof Socket && socket.connecting);
}
