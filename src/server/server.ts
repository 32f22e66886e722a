import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import { Server as NetServer, type Socket } from 'node:net';
import { opensWebSocket } from '../api-proxy/websocket-handshake.ts';
import { ConfigError, ListenError } from '../failures/start-errors.ts';
import { type CountedLimit, type Limits, limits } from '../limits.ts';
import { hostInUrl } from '../urls.ts';
import { type Connections, limitConnections } from './connection-limits.ts';
import { Request } from './parsing.ts';
import { type Certificate, tlsOptions } from './tls.ts';
import { answerUnreadableRequest, type UnreadableRequest } from './unreadable-request.ts';
import { serveUpgrades, type Upgrades } from './upgrades.ts';

// Milliseconds between two checks for slow requests. With the 30 s of Node.js, limits would apply up to 30 s late.
const slowRequestSweep = 1_000;
// Milliseconds between two searches for idle connections while the server closes.
const idleSweep = 100;
// The number of connections that can wait during a restart. The system may lower it.
const backlog = 65_535;

/** A port to open. */
export interface Port {
  readonly host: string;
  readonly port: number;
  /** Names the port in an error: `the relay of the demo`. */
  readonly purpose?: string;
}

/** A listening socket from the parent process. It stays open when this process ends. */
export interface PassedSocket {
  readonly fd: number;
}

/** Learns about requests and connections that never reach the listener. */
export interface ServerObserver {
  /**
   * Called for every request that was answered without the listener.
   *
   * @param peer the address of its sender; undefined behind a Unix socket
   */
  unreadableRequest(request: UnreadableRequest, peer: string | undefined): void;
  /** Called for every connection that was closed at a limit. */
  limitHit(limit: CountedLimit): void;
}

/** The observer of a server without a log and metrics of its own. */
export const noObserver: ServerObserver = { unreadableRequest() {}, limitHit() {} };

export type ListeningServer = Awaited<ReturnType<typeof listen>>;

/**
 * Opens a port, or listens on a passed socket.
 *
 * @param certificate undefined for plain http
 * @param takesWebSockets whether a request may open a WebSocket now. Then it gets an `UpgradeResponse`
 * @throws {ListenError} if the port is taken or forbidden
 * @throws {ConfigError} if the passed socket is not a listening stream socket
 */
export async function listen(
  firstListener: RequestListener,
  where: Port | PassedSocket,
  most: Limits & { readonly connections: number },
  observer: ServerObserver,
  certificate?: Certificate,
  takesWebSockets: () => boolean = () => false,
) {
  let current = firstListener;
  const listener = (request: Request, response: ServerResponse) => {
    // If Node.js does not upgrade such a request, it loses the bytes that came together with it. On a kept connection,
    // it would then take the middle of the next request for a request (request smuggling).
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    connections.serve(request, response, () => current(request, response));
  };
  const options = {
    IncomingMessage: Request,
    handshakeTimeout: most.handshakeTime,
    headersTimeout: most.headersTime,
    requestTimeout: most.requestTime,
    connectionsCheckingInterval: Math.min(slowRequestSweep, most.headersTime),
    keepAliveTimeout: most.keepAliveTime,
    maxHeaderSize: most.headerSize,
    // Nothing else reveals that the peer of a silent stream has vanished.
    keepAlive: true,
    keepAliveInitialDelay: most.keepAliveTime,
    // The listener answers a missing Host, with JSON.
    requireHostHeader: false,
    shouldUpgradeCallback: (request: Request) =>
      takesWebSockets() && opensWebSocket(request) && connections.responsesOn(request.socket).length === 0,
  };
  // Loaded only if TLS is configured.
  const tls = certificate && { ...options, ...tlsOptions(certificate) };
  const secureServer = tls && (await import('node:https')).createServer(tls, listener);
  const server = secureServer ?? createServer(options, listener);
  // Node.js drops further headers. Keep one more than allowed, so that `checkHeaders` sees the excess.
  server.maxHeadersCount = limits.headers + 1;
  const connections = limitConnections(server, most, {
    onTooMany: () => observer.limitHit('connections'),
    onNoHandshake: () => observer.limitHit('handshake_time'),
    onExcess: (reason, socket) => refuse(reason, socket),
  });
  // Otherwise, Node.js would send `100 Continue` itself, and would answer unknown expectations without a body.
  // @see RFC 9110 §10.1.1
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  server.timeout = most.answerTime;
  const onTimeout = (socket: Socket) => closeIfSlow(socket, connections, observer);
  server.on('timeout', onTimeout);
  const upgrades = serveUpgrades(server, listener, onTimeout);
  const refuse = refuseUnreadableRequests(server, connections, observer);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, where)));
    server.listen(where, backlog, resolve);
  });
  return {
    /** `http://host:port`, `https://host:port`, or `unix` for a Unix socket. */
    address: addressOf(server),
    /** Replaces the listener for later requests. */
    serve(next: RequestListener): void {
      current = next;
    },
    /** The number of requests whose response has not been sent completely. */
    requestsInFlight: connections.inFlight,
    /** Replaces the certificate for later connections. Without TLS, it does nothing. */
    replaceCertificate(next: Certificate): void {
      secureServer?.setSecureContext(tlsOptions(next));
    },
    /** Stops as {@link close} does. Responses to further requests must say `Connection: close`. */
    close: (): Promise<void> => close(server, upgrades, most),
  };
}

/** The URL at which a server listens, or `unix`. */
function addressOf(server: Server | SecureServer): string {
  const address = server.address();
  // Node.js does not know the path of a passed Unix socket.
  if (address === null || typeof address === 'string') return 'unix';
  const scheme = 'setSecureContext' in server ? 'https' : 'http';
  return `${scheme}://${hostInUrl(address.address)}:${address.port}`;
}

/** Only root, systemd, or a program with this capability may open a port below 1024. */
const remedyForLowPort =
  ': let systemd open it (login-relay systemd --socket), or sudo setcap cap_net_bind_service=+ep login-relay';

/** The error that says why a port cannot be opened, or a passed socket cannot be used. */
function listenError(error: Error, where: Port | PassedSocket): Error {
  if ('fd' in where) return new ConfigError(['the passed socket is not a stream socket that listens']);
  const { host, port, purpose } = where;
  const which = purpose === undefined ? `port ${port} on ${host}` : `port ${port}, for ${purpose},`;
  const code = 'code' in error ? error.code : undefined;
  const notHere = `${host} is not an address of this machine: there is nothing to listen on`;
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `${which} is already in use`,
    EACCES: `${which} may not be used by this user${port < 1024 ? remedyForLowPort : ''}`,
    EADDRNOTAVAIL: notHere,
    ENOTFOUND: notHere,
  };
  const other = `cannot listen on ${host}, port ${port} (${code ?? error.name})`;
  return new ListenError(messages[`${code}`] ?? other);
}

/**
 * Stops listening, lets requests in flight finish, and closes every connection. For a while, kept connections may send
 * further requests, because their peers cannot know that the server closes.
 */
async function close(
  server: Server | SecureServer,
  upgrades: Upgrades,
  { stopTime, stopIdleTime }: Pick<Limits, 'stopTime' | 'stopIdleTime'>,
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    // http.Server's own close() would close idle connections at once.
    NetServer.prototype.close.call(server, () => resolve());
  });
  let sweep: NodeJS.Timeout | undefined;
  const timers = [
    setTimeout(() => {
      server.closeAllConnections();
      upgrades.closeAll();
    }, stopTime),
    setTimeout(() => {
      // setImmediate runs after pending reads, so that a connection with a new request is not taken for idle.
      sweep = setInterval(() => setImmediate(() => server.closeIdleConnections()), idleSweep);
    }, stopIdleTime),
  ];
  await closed;
  for (const timer of timers) clearTimeout(timer);
  clearInterval(sweep);
}

/** Closes a connection whose peer has made no progress for `limits.answerTime`, unless it may wait. */
function closeIfSlow(socket: Socket, connections: Connections, observer: ServerObserver): void {
  const responses = connections.responsesOn(socket);
  const isAnswering = responses.some(({ headersSent }) => headersSent);
  // The peer may wait for a response that has not begun, or for the rest of one, of which it has read all that was
  // sent.
  if (responses.length > 0 && (!isAnswering || socket.writableLength === 0)) return;
  if (isAnswering) observer.limitHit('answer_time');
  socket.destroy();
}

interface ClientError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
}

/**
 * Answers the requests that Node.js does not pass to the listener.
 *
 * @returns a function that refuses what follows the complete requests on a connection, by the code of a failure, of
 *   Node.js or of its HTTP parser
 */
function refuseUnreadableRequests(server: Server, connections: Connections, observer: ServerObserver) {
  const answer = (reason: string, socket: Socket, bytes?: Buffer) => {
    const { remoteAddress } = socket;
    observer.unreadableRequest(answerUnreadableRequest(reason, socket, bytes), remoteAddress);
  };
  /** Acts once the complete requests on the same connection are answered. @see RFC 9112 §9.3.2 */
  const afterResponses = (socket: Socket, act: () => void) => {
    const responses = connections.responsesOn(socket);
    const lastDue = responses.findLast(({ req, headersSent }) => req.complete || headersSent);
    if (lastDue === undefined) return act();
    lastDue.once('close', act);
    // Node.js no longer watches for the end of the connection. Otherwise, a stream whose peer is gone would keep its
    // place.
    socket.once('end', () => socket.destroy()).resume();
  };
  // After the first parse error, every further byte raises the same error again.
  const refused = new WeakSet<Socket>();
  const refuse = (reason: string, socket: Socket, bytes?: Buffer) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    afterResponses(socket, () => {
      // Do not answer a peer that has closed the connection or has sent nothing.
      const hasSentNothing = socket.bytesRead === 0 || !connections.has(socket);
      const cannotRead = !socket.writable || reason === 'ECONNRESET';
      if (hasSentNothing || cannotRead) socket.destroy();
      else answer(reason, socket, bytes);
    });
  };
  server.on('clientError', ({ code = '', rawPacket }: ClientError, socket: Socket) => {
    if (code === 'ERR_TLS_HANDSHAKE_TIMEOUT') observer.limitHit('handshake_time');
    // TLS has closed its side, but the client still waits for a plain answer.
    const unsecured = code === 'ERR_SSL_HTTP_REQUEST' ? connections.socketBelowTls(socket) : undefined;
    refuse(code, unsecured ?? socket, rawPacket);
  });
  // Node.js hands over the socket of a CONNECT request, or closes it if there is no handler.
  server.on('connect', (_request, socket: Socket) => {
    socket.on('error', () => socket.destroy());
    afterResponses(socket, () => {
      if (socket.writable) answer('CONNECT', socket);
    });
  });
  return refuse;
}
