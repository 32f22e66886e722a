import type { RequestListener } from 'node:http';
import { ConfigError } from '../failures/start-errors.ts';
import { limits } from '../limits.ts';
import { listen, noObserver } from '../server/server.ts';
import type { OwnPage } from './own-page.ts';

/** The limits of all servers of the demo. Connections end at once when it stops. */
const demoLimits = { ...limits, connections: 256, stopTime: 0, stopIdleTime: 0 };

/** An open port of this machine. Requests wait for `serve`. */
export type OpenPort = Awaited<ReturnType<typeof openPort>>;

/**
 * Opens a port on loopback before its server exists, because each server of the demo needs the addresses of the others.
 *
 * @param port 0 for any free port
 * @param purpose names the port in an error: `the relay`
 * @throws {ListenError} if the port cannot be opened
 */
export async function openPort(port: number, purpose: string) {
  const { promise: served, resolve: serve } = Promise.withResolvers<RequestListener>();
  const listener: RequestListener = async (...exchange) => (await served)(...exchange);
  const where = { host: '127.0.0.1', port, purpose: `${purpose} of the demo` };
  const { address, close } = await listen(listener, where, demoLimits, noObserver);
  const openedPort = Number(new URL(address).port);
  return {
    port: openedPort,
    /** The URL for browsers, without a path. */
    url: `http://localhost:${openedPort}`,
    /** The URL for programs of this machine, which needs no name lookup. */
    address,
    /** Answers requests with a listener from now on. Call it once. */
    serve,
    /** Ends the server with every connection, busy or not. */
    close,
  };
}

/** The choices of the user who starts the demo. */
export interface DemoOptions {
  /** The relay's port, which the others follow; 0 for any free ports. By default, the first free ports from 8000 on. */
  readonly port: number | undefined;
  /** The user's own page, which can log in at the relay as well. Its port stays free. */
  readonly own?: OwnPage | undefined;
}

export type DemoPorts = Awaited<ReturnType<typeof openDemoPorts>>;

/** The usual port of the relay, which the scripts of the demo's pages and the examples contain. */
const usualPort = 8000;
/** The highest port that the relay can have, because two more ports follow. */
const highestPort = 65_533;

/**
 * Opens the ports of the demo, one after the other.
 *
 * @param opened gets each open port at once, for the caller to close even if a later one fails
 * @throws {ConfigError} if the port is not a whole number, or too high
 * @throws {ListenError} if one of the ports cannot be opened
 */
export async function openDemoPorts({ port: wanted, own }: DemoOptions, opened: OpenPort[]) {
  let next = wanted ?? usualPort;
  if (!Number.isInteger(next) || next < 0 || next > highestPort) {
    throw new ConfigError([`--port must be a whole number from 0 to ${highestPort}`]);
  }
  let isUsualPortTaken = false;
  async function openAndKeep(port: number, purpose: string): Promise<OpenPort> {
    const openedPort = await openPort(port, purpose);
    opened.push(openedPort);
    return openedPort;
  }
  /** Opens the next port. Without a given port, it leaves out taken ports, and the port of the user's own page. */
  async function openNext(purpose: string): Promise<OpenPort> {
    const port = next;
    if (port !== 0) next += 1;
    const isPortOfOwnPage = own?.origin.endsWith(`:${port}`) === true;
    if (wanted === undefined && isPortOfOwnPage) return openNext(purpose);
    try {
      return await openAndKeep(port, purpose);
    } catch (error) {
      // If a given port is taken, the demo does not start. Only the usual ports have substitutes.
      if (wanted !== undefined || port >= usualPort + 100) throw error;
      isUsualPortTaken = true;
      return openNext(purpose);
    }
  }
  return {
    relay: await openNext('the relay'),
    frontEnd: await openNext('the front end'),
    provider: await openNext('the provider'),
    // Browsers reach the dashboard through the relay, so that any port will do.
    dashboard: await openAndKeep(0, 'the dashboard'),
    /** Whether another program uses one of the usual ports. The port of the user's own page does not count. */
    isUsualPortTaken,
  };
}
