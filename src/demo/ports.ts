import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { ConfigError, ListenError } from '../failures/start-errors.ts';
import { codeOf } from '../text-files.ts';
import type { OwnPage } from './own-page.ts';

/** A port of this machine that is taken; requests to it wait for `serve`. */
export type OpenPort = Awaited<ReturnType<typeof openPort>>;

/**
 * Opens a port on loopback before its server exists: each server of the demo needs the addresses of the others.
 *
 * @param port 0 takes any free port
 * @param purpose what the port is for, as the error names it: `the relay`
 * @throws {ListenError} if the port cannot be opened
 */
export async function openPort(port: number, purpose: string) {
  const { promise: listener, resolve: serve } = Promise.withResolvers<RequestListener>();
  const server = createServer(async (...exchange) => (await listener)(...exchange));
  server.listen({ host: '127.0.0.1', port });
  await once(server, 'listening').catch((error) => {
    const code = codeOf(error);
    const reason = code === 'EADDRINUSE' ? 'is already in use' : `cannot be opened (${code})`;
    throw new ListenError(`port ${port}, for ${purpose} of the demo, ${reason}`);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  return {
    port: address.port,
    /** Its address as a browser writes it, without a path. */
    url: `http://localhost:${address.port}`,
    /** Answers its requests from now on. Call it once. */
    serve,
    /** Ends the server with every connection, busy or not. */
    close: () =>
      new Promise<void>((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

export interface DemoOptions {
  /** The relay's port; the others follow. 0 takes any free ports (default: the first free ones from 8000 on). */
  readonly port: number | undefined;
  /** A page of the user's own, which the relay serves as well. Its port stays free. */
  readonly own?: OwnPage | undefined;
}

export type DemoPorts = Awaited<ReturnType<typeof openDemoPorts>>;

const usualPort = 8000;
/** The highest port of the relay: two more ports follow. */
const highest = 65_533;

/**
 * Opens the ports of the demo, one after the other.
 *
 * @param opened gets each open port at once: the caller closes them, also if a later one fails
 * @throws {ConfigError} if the port is not a whole number, or too high
 * @throws {ListenError} if one of the ports cannot be opened
 */
export async function openDemoPorts({ port: wanted, own }: DemoOptions, opened: OpenPort[]) {
  let next = wanted ?? usualPort;
  if (!Number.isInteger(next) || next < 0 || next > highest) {
    throw new ConfigError([`--port must be a whole number from 0 to ${highest}`]);
  }
  let movedOn = false;
  async function open(purpose: string): Promise<OpenPort> {
    const port = next;
    if (port !== 0) next += 1;
    // Leave the port of the user's own page free.
    if (wanted === undefined && own?.origin.endsWith(`:${port}`)) return open(purpose);
    try {
      const taken = await openPort(port, purpose);
      opened.push(taken);
      return taken;
    } catch (error) {
      // Only the usual ports have substitutes: a port that was asked for is taken, or the demo does not start.
      if (wanted !== undefined || port >= usualPort + 100) throw error;
      movedOn = true;
      return open(purpose);
    }
  }
  return {
    relay: await open('the relay'),
    frontEnd: await open('the front end'),
    provider: await open('the provider'),
    movedOn,
  };
}
