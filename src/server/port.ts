import { ConfigError, ListenError } from '../start-errors.ts';

/** A port to open. */
export interface Port {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

/** A listening socket that the parent process opened. It stays open when this process ends. */
export interface PassedSocket {
  /** Its file descriptor. */
  readonly fd: number;
}

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
