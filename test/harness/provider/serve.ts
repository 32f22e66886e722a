import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';

/** A server on a free port of this machine. */
export interface Serving {
  readonly port: number;
  /** The number of connections so far. */
  readonly connections: number;
  /** The open connections. */
  readonly sockets: ReadonlySet<Socket>;
  /** Breaks its connections. */
  close(): Promise<void>;
}

/** Serves HTTP, on any free port if none is given. */
export async function serve(listener: RequestListener, port = 0): Promise<Serving> {
  return await listening(createServer(listener), port);
}

/** Serves HTTP over TLS, with key and certificate in one PEM text. */
export async function serveTls(pem: string, listener: RequestListener): Promise<Serving> {
  return await listening(createTlsServer({ key: pem, cert: pem }, listener));
}

/** Serves TCP, on any free port if none is given. */
export async function serveTcp(onConnection: (socket: Socket) => void, port = 0): Promise<Serving> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    onConnection(socket);
  });
  return await listening(server, port);
}

/** Serves the CONNECT requests of an HTTP proxy. */
export async function serveTunnels(
  onConnect: (socket: Socket, request: IncomingMessage, head: Buffer) => void,
): Promise<Serving> {
  const server = createServer();
  server.on('connect', (request, socket, head) => {
    socket.on('error', () => {});
    onConnect(socket as Socket, request, head);
  });
  return await listening(server);
}

async function listening(server: Server | TcpServer, port = 0): Promise<Serving> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  return {
    port: address.port,
    sockets,
    get connections() {
      return connections;
    },
    async close() {
      if (!server.listening) return;
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
