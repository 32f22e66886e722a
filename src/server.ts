import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type FailureCode, RelayError } from './errors.ts';
import { securityHeaders } from './http/response-headers.ts';
import { ListenError } from './listen-error.ts';

const headersTimeout = 10_000;
const requestTimeout = 30_000;
// Longer than the 60 s after which common balancers drop a connection: the client closes first.
const keepAliveTimeout = 75_000;

const closeDeadline = 30_000;
// Connections that fall idle while the server closes are looked for this often.
const idleSweep = 100;

/** A request that was answered without ever reaching the application. */
export interface UnreadableRequest {
  readonly requestId: string;
  readonly status: number;
  readonly outcome: FailureCode;
}

/** A server that listens. */
export interface ListeningServer {
  /** Where it listens, as `http://host:port`. */
  readonly address: string;
  /** Replaces what answers requests from now on. */
  serve(listener: RequestListener): void;
  /** Stops listening, lets requests under way finish for up to 30 s, and closes every connection. */
  close(): Promise<void>;
}

/**
 * Opens a port.
 *
 * @param where.port 0 takes any free port
 * @param observe told of every request that the HTTP parser refused
 * @throws {ListenError} where the port is taken or may not be used
 */
export async function listen(
  firstListener: RequestListener,
  where: { readonly host: string; readonly port: number },
  observe: (request: UnreadableRequest) => void,
): Promise<ListeningServer> {
  let current = firstListener;
  const listener: RequestListener = (request, response) => current(request, response);
  const server = createServer(
    // The application answers a missing Host itself, as JSON.
    { headersTimeout, requestTimeout, keepAliveTimeout, requireHostHeader: false },
    listener,
  );
  // Node would answer an expectation that it does not know itself, without a body. @see RFC 9110 §10.1.1
  server.on('checkExpectation', listener);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // A client that hung up awaits no answer.
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else observe(answerUnreadableRequest(error.code ?? '', socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, where)));
    server.listen(where, resolve);
  });
  return {
    address: addressOf(server),
    serve(next) {
      current = next;
    },
    close: () => close(server),
  };
}

async function close(server: Server): Promise<void> {
  const sweep = setInterval(() => server.closeIdleConnections(), idleSweep);
  const deadline = setTimeout(() => server.closeAllConnections(), closeDeadline);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  clearInterval(sweep);
  clearTimeout(deadline);
}

function listenError(error: Error, { host, port }: { host: string; port: number }): ListenError {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return new ListenError(`port ${port} on ${host} is already in use`);
  if (code === 'EACCES')
    return new ListenError(`port ${port} on ${host} may not be used by this user`);
  return new ListenError(`cannot listen on ${host}, port ${port} (${code ?? error.name})`);
}

function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

const unreadable: Readonly<Record<string, FailureCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

// What the HTTP parser refuses never becomes a request: the answer goes straight to the socket.
function answerUnreadableRequest(parserCode: string, socket: Socket): UnreadableRequest {
  const { code, status, detail } = new RelayError(unreadable[parserCode] ?? 'bad_request');
  const requestId = randomUUID();
  const body = JSON.stringify({ detail });
  const headers = {
    ...securityHeaders,
    'X-Request-Id': requestId,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  return { requestId, status, outcome: code };
}
