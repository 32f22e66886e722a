import { ConfigError, ListenError } from '../start-errors.ts';
import type { PassedSocket } from './passed-socket.ts';
import type { Port } from './port.ts';

/** Why a port cannot be opened, or a passed socket cannot be listened on. */
export function listenError(error: Error, where: Port | PassedSocket): Error {
  if ('fd' in where)
    return new ConfigError(['the passed socket is not a stream socket that listens']);
  const { host, port } = where;
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return new ListenError(`port ${port} on ${host} is already in use`);
  if (code === 'EACCES')
    return new ListenError(`port ${port} on ${host} may not be used by this user`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new ListenError(
      `${host} is not an address of this machine: there is nothing to listen on`,
    );
  }
  return new ListenError(`cannot listen on ${host}, port ${port} (${code ?? error.name})`);
}
