import { ConfigError } from '../start-errors.ts';
import { type OpenPort, openFreePort, openPort } from './open-port.ts';

/** Where the demo begins to look for free ports. */
const usualPort = 8000;
const highestPort = 65535;

/** The ports of the demo's servers. */
export interface DemoPorts {
  readonly relay: OpenPort;
  readonly frontEnd: OpenPort;
  readonly provider: OpenPort;
  readonly second: { readonly frontEnd: OpenPort; readonly provider: OpenPort } | undefined;
  /** Whether one of the usual ports is in use. */
  readonly movedOn: boolean;
  close(): Promise<void>;
}

/**
 * Opens the ports of the demo, one after the other.
 *
 * @param options.port the relay's port; the others follow. 0 takes any free ports. Undefined: the first
 *   free ones from 8000 on
 * @param options.several whether there is a second front end and a second provider
 * @param options.own the user's own page: its port stays free
 * @throws {ConfigError} if the port is not a whole number, or too high
 * @throws {ListenError} if one of the ports cannot be opened
 */
export async function openDemoPorts(options: {
  readonly port: number | undefined;
  readonly several?: boolean;
  readonly own?: { readonly origin: string } | undefined;
}): Promise<DemoPorts> {
  const { port: first, several = false, own } = options;
  expectUsable(first, highestPort - (several ? 4 : 2));
  const ownPort = own && Number(new URL(own.origin).port);
  const opened: OpenPort[] = [];
  let movedOn = false;
  const close = async () => {
    await Promise.all(opened.map((port) => port.close()));
  };
  const openNext = async (purpose: string) => {
    if (first !== undefined) return openPort(first === 0 ? 0 : first + opened.length, purpose);
    const next = (opened.at(-1)?.port ?? usualPort - 1) + 1;
    const port = await openFreePort(next, purpose, ownPort);
    movedOn ||= port.port !== (next === ownPort ? next + 1 : next);
    return port;
  };
  const open = async (purpose: string) => {
    const port = await openNext(purpose);
    opened.push(port);
    return port;
  };
  try {
    return {
      relay: await open('the relay'),
      frontEnd: await open('the front end'),
      provider: await open('the provider'),
      second: several
        ? {
            frontEnd: await open('the second front end'),
            provider: await open('the second provider'),
          }
        : undefined,
      movedOn,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function expectUsable(port: number | undefined, highest: number): void {
  const isUsable = port === undefined || (Number.isInteger(port) && port >= 0 && port <= highest);
  if (!isUsable) throw new ConfigError([`--port must be a whole number from 0 to ${highest}`]);
}
