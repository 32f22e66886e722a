import { createServer, type RequestListener } from 'node:http';
import { ListenError } from '../start-errors.ts';

/** A port of this machine that is taken; requests to it wait for {@link OpenPort.serve}. */
export interface OpenPort {
  readonly port: number;
  /** Its address as a browser writes it, without a path. */
  readonly url: string;
  /** Answers its requests from now on; to be called once. */
  serve(listener: RequestListener): void;
  /** Ends the server with every connection, busy or not. */
  close(): Promise<void>;
}

/**
 * Opens a port on loopback before its server exists: each server of the demo needs the addresses of
 * the others.
 *
 * @param port 0 takes any free port
 * @param purpose what the port is for, as the error names it: `the relay`
 * @throws {ListenError} if the port cannot be opened
 */
export async function openPort(port: number, purpose: string): Promise<OpenPort> {
  const { promise: listener, resolve: serve } = Promise.withResolvers<RequestListener>();
  const server = createServer(async (request, response) => {
    (await listener)(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, port, purpose)));
    server.listen({ host: '127.0.0.1', port }, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  return {
    port: address.port,
    url: `http://localhost:${address.port}`,
    serve,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Opens the first free port of those from `first` on.
 *
 * @param except a port that stays free
 * @throws {ListenError} if none of the next hundred can be opened
 */
export async function openFreePort(
  first: number,
  purpose: string,
  except?: number | undefined,
): Promise<OpenPort> {
  for (let port = first; ; port += 1) {
    if (port === except) continue;
    try {
      return await openPort(port, purpose);
    } catch (error) {
      if (!(error instanceof ListenError) || port === first + 100) throw error;
    }
  }
}

function listenError(error: Error, port: number, purpose: string): ListenError {
  const code = 'code' in error ? error.code : undefined;
  const reason = code === 'EADDRINUSE' ? 'is already in use' : `cannot be opened (${code})`;
  return new ListenError(`port ${port}, for ${purpose} of the demo, ${reason}`);
}
