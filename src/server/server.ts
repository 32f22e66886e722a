import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { CountedLimit, ServerLimits } from '../limits.ts';
import { ConfigError, ListenError } from '../start-errors.ts';
import type { Certificate } from './certificate.ts';
import { close } from './close.ts';
import { limitConnections } from './connections.ts';
import type { PassedSocket } from './passed-socket.ts';
import { tlsOptions } from './tls-options.ts';
import { answerUnreadableRequest, type UnreadableRequest } from './unreadable-request.ts';

// Node looks for requests that are too slow this often: its own 30 s would stretch every limit.
const slowRequestSweep = 1_000;
// Who connects while a relay starts anew waits here; the system bounds it further.
const backlog = 65_535;

/** Who is told what never reaches the application. */
export interface ServerObserver {
  /** Of every request that the HTTP parser refused. */
  unreadableRequest(request: UnreadableRequest): void;
  /** Of every connection that was closed at a limit. */
  limitHit(limit: CountedLimit): void;
}

/** A port to open. */
export interface Port {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

/** A server that listens. */
export interface ListeningServer {
  /** Where it listens, as `http://host:port` or `https://host:port`, or `unix` for a Unix socket. */
  readonly address: string;
  /** Replaces what answers requests from now on. */
  serve(listener: RequestListener): void;
  /** How many requests were taken and have no whole answer yet. */
  requestsInFlight(): number;
  /** Replaces the certificate for connections made from now on; a server without TLS has none. */
  certify(certificate: Certificate): void;
  /**
   * Stops listening, lets requests under way finish, and closes every connection. Kept connections
   * may bring further requests for a while, whose answers are to say that the connection closes.
   */
  close(): Promise<void>;
}

/**
 * Opens a port, or listens on a socket that was passed to this process.
 *
 * @param most.connections that are kept at a time
 * @param certificate with it, TLS is spoken
 * @throws {ListenError} where the port is taken or may not be used
 * @throws {ConfigError} where the passed socket is not one to listen on
 */
export async function listen(
  firstListener: RequestListener,
  where: Port | PassedSocket,
  most: ServerLimits & { readonly connections: number },
  observer: ServerObserver,
  certificate?: Certificate,
): Promise<ListeningServer> {
  let current = firstListener;
  const listener: RequestListener = (request, response) => {
    connections.serve(request, response);
    current(request, response);
  };
  const options = {
    handshakeTimeout: most.handshakeTime,
    headersTimeout: most.headersTime,
    requestTimeout: most.requestTime,
    connectionsCheckingInterval: Math.min(slowRequestSweep, most.headersTime),
    keepAliveTimeout: most.keepAliveTime,
    maxHeaderSize: most.headerSize,
    // The application answers a missing Host itself, as JSON.
    requireHostHeader: false,
  };
  const secureServer = certificate && (await createSecureServer(certificate, options, listener));
  const server = secureServer ?? createServer(options, listener);
  // Their size bounds their number; Node would drop what is beyond 2,000 without a word.
  server.maxHeadersCount = 0;
  const connections = limitConnections(server, most.connections, () =>
    observer.limitHit('connections'),
  );
  // Node would invite the body, and answer an expectation that it does not know itself, without a
  // body. @see RFC 9110 §10.1.1
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  server.timeout = most.answerTime;
  server.on('timeout', (socket: Socket) => {
    const answering = connections.isAnswering(socket);
    // An answer that is still being made keeps its client waiting, not the client the server.
    if (connections.isBusy(socket) && !answering) return;
    if (answering) observer.limitHit('answer_time');
    socket.destroy();
  });
  // After what cannot be read, whatever else arrives is the same fault again.
  const refused = new WeakSet<Socket>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ERR_TLS_HANDSHAKE_TIMEOUT') observer.limitHit('handshake_time');
    if (refused.has(socket)) return;
    refused.add(socket);
    // What came before it on the same connection is answered first. @see RFC 9112 §9.3.2
    connections.afterAnswers(socket, () => {
      // A client that hung up awaits no answer, nor one that never asked.
      const silent = socket.bytesRead === 0 || !connections.has(socket);
      const deaf = !socket.writable || error.code === 'ECONNRESET';
      if (silent || deaf) socket.destroy();
      else observer.unreadableRequest(answerUnreadableRequest(error.code ?? '', socket));
    });
  });
  // Node hands the connection over, and would close it where nobody takes it.
  server.on('connect', (_request, socket: Socket) => {
    socket.on('error', () => socket.destroy());
    connections.afterAnswers(socket, () => {
      if (socket.writable) observer.unreadableRequest(answerUnreadableRequest('CONNECT', socket));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, where)));
    server.listen(where, backlog, resolve);
  });
  return {
    address: addressOf(server),
    serve(next) {
      current = next;
    },
    requestsInFlight: connections.inFlight,
    certify(next) {
      secureServer?.setSecureContext(tlsOptions(next));
    },
    close: () => close(server, most),
  };
}

// Only who ends TLS here pays for loading what speaks it.
async function createSecureServer(
  certificate: Certificate,
  options: ServerOptions,
  listener: RequestListener,
): Promise<SecureServer> {
  const { createServer } = await import('node:https');
  return createServer({ ...options, ...tlsOptions(certificate) }, listener);
}

function listenError(error: Error, where: Port | PassedSocket): Error {
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

function addressOf(server: Server | SecureServer): string {
  const address = server.address();
  // Node does not know the path of a Unix socket that was passed.
  if (address === null || typeof address === 'string') return 'unix';
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const scheme = 'setSecureContext' in server ? 'https' : 'http';
  return `${scheme}://${host}:${address.port}`;
}
